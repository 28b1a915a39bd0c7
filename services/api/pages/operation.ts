import type { OperationView } from '../../../packages/domain/payment-intents/operation.ts'
import { html } from '../docs/html.ts'

const words: Readonly<Record<OperationView['status'], readonly [title: string, text: string]>> = {
  pending: ['Payment under way', 'This page shows the result by itself. You can leave it open.'],
  succeeded: ['Done', 'The operation has succeeded.'],
  failed: ['Not done', 'The operation has failed.'],
  canceled: ['Canceled', 'The operation was canceled.'],
}

/**
 * Spec, Return URL rules 1: where the payer stays when there is no return URL, and from where others are sent
 * back.
 */
export function operationPage({ id, status, message, redirect_url }: OperationView): string {
  const [title, text] = words[status]
  const isOpen = status === 'pending'
  const label = isOpen ? 'Go on to pay' : 'Back to the merchant'
  const refresh = isOpen ? '3' : redirect_url && `0;url=${redirect_url}`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        ${refresh !== null && html`<meta http-equiv="refresh" content="${refresh}" />`}
        <title>${title}</title>
        <style>
          body {
            font: 18px/1.5 system-ui;
            max-width: 32em;
            margin: 15vh auto;
            padding: 0 1em;
            color-scheme: light dark;
          }
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        <p>${message ?? text}</p>
        ${redirect_url !== null && html`<p><a href="${redirect_url}">${label}</a></p>`}
        <p><small>${id}</small></p>
      </body>
    </html>`.text
}
