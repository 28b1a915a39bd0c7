import type { Visit } from '../../../packages/contract/pages.ts'
import type { OperationView } from '../../../packages/domain/payment-intents/operation.ts'
import { html } from '../docs/html.ts'
import { frame, readerOf } from './layout.ts'
import type { Words } from './words.ts'
import { waiting } from './pay-parts.ts'

const titles: Readonly<Record<OperationView['status'], keyof Words & `status${string}`>> = {
  pending: 'statusPending',
  succeeded: 'statusSucceeded',
  failed: 'statusFailed',
  canceled: 'statusCanceled',
}

/**
 * Spec, Return URL rules 1: where the payer stays when there is no return URL, and is forwarded from
 * otherwise.
 */
export function operationPage(view: OperationView, visit: Visit) {
  const { id, message, redirect_url, livemode } = view
  const status = `/operations/status/${id}`
  const reader = readerOf(visit)
  const { words } = reader
  const title = words[titles[view.status]]
  const isOpen = view.status === 'pending'
  const label = isOpen ? words.goOn : words.back('')
  return frame(reader, {
    title,
    isTest: !livemode,
    ...(isOpen && { refreshSeconds: 5 }),
    ...(!isOpen && redirect_url !== null && { forward: redirect_url }),
    content: html`<h1>${title}</h1>
      ${message !== null && html`<p>${message}</p>`}
      ${isOpen && waiting(reader, { status, field: 'status', shown: 'pending', page: `${visit.path}${reader.here}` })}
      ${redirect_url !== null && html`<a class="button" href="${redirect_url}">${label}</a>`}
      <p class="hint">${id}</p>`,
  })
}
