import { refuse } from '../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../packages/contract/routes.ts'
import {
  viewOperation,
  type OperationRow,
  type OperationView,
} from '../../../packages/domain/payment-intents/operation.ts'
import { operations } from '../../../projections/operations.ts'
import { html } from '../docs/html.ts'

const waitMs = 1_000

/** Public: anybody with the id of an operation, payer or merchant, may see its status and nothing else. */
export async function showOperation(
  request: Pick<Request, 'dependencies' | 'params'>,
): Promise<OperationView> {
  const { dependencies, params } = request
  const id = params['operationId']!
  // The payer may arrive with the answer to the confirmation, and the read model a moment later.
  await dependencies.reads.reached(await dependencies.store.head(), waitMs, operations.name)
  return viewOperation((await findOperation(dependencies, id)) ?? refuse('resource_must_exist'))
}

export async function findOperation({ reads }: Dependencies, id: string): Promise<OperationRow | undefined> {
  const where = [{ column: 'id', operator: '=', value: id }] as const
  const { rows } = await reads.page<OperationRow>({ from: operations.name, where, order: 'id', limit: 1 })
  return rows[0]
}

const words: Readonly<Record<OperationView['status'], readonly [title: string, text: string]>> = {
  pending: ['Payment under way', 'This page shows the result by itself. You can leave it open.'],
  succeeded: ['Done', 'The operation has succeeded.'],
  failed: ['Not done', 'The operation has failed.'],
  canceled: ['Canceled', 'The operation was canceled.'],
}

/**
 * Spec, Return URL rules 1: where the payer stays when there is no return URL, and is forwarded from
 * otherwise.
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
