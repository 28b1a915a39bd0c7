import { identity } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { House, Request } from '../../../packages/contract/routes.ts'
import {
  viewOperation, type OperationRow, type OperationView,
} from '../../../packages/domain/payment-intents/operation.ts'
import { operations } from '../../../projections/operations.ts'

const waitMs = 1_000

/** Public: whoever has the id of an operation, payer or merchant, may see how it stands and nothing else. */
export async function showOperation(request: Pick<Request, 'house' | 'params'>): Promise<OperationView> {
  const { house, params } = request
  const named = identity(params['operationId']!, 'operation', 'payout', 'refund')
  const id = named ?? refuse('resource_must_exist')
  // The payer may come with the answer to the confirmation, and the read model a moment later.
  await house.reads.reached(await house.store.head(), waitMs)
  return viewOperation((await find(house, id)) ?? refuse('resource_must_exist'))
}

async function find({ reads }: House, id: string): Promise<OperationRow | undefined> {
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
 * Spec, Return URL rules 1: where the payer stays when there is no return URL, and from where others are sent
 * back.
 */
export function operationPage(operation: OperationView): string {
  const { id, status, message, redirect_url } = operation
  const [title, text] = words[status]
  const isOpen = status === 'pending'
  const label = isOpen ? 'Go on to pay' : 'Back to the merchant'
  const link = redirect_url && `<p><a href="${escaped(redirect_url)}">${label}</a></p>`
  const refresh = isOpen ? '3' : redirect_url && `0;url=${escaped(redirect_url)}`
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    refresh && `<meta http-equiv="refresh" content="${refresh}">`,
    `<title>${title}</title>`,
    '<style>body{font:18px/1.5 system-ui;max-width:32em;margin:15vh auto;padding:0 1em}</style></head>',
    `<body><h1>${title}</h1><p>${escaped(message ?? text)}</p>`,
    link,
    `<p><small>${id}</small></p></body></html>`,
  ].filter(Boolean).join('\n')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}
