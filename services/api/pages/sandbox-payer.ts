import type { Express, Request, Response } from 'express'
import { identity, publicId } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { OperationRow } from '../../../packages/domain/payment-intents/operation.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { commandAfter } from '../../../packages/domain/payment-intents/operator-answer.ts'
import type { RailState } from '../../../packages/kernel/rail-ports.ts'
import { currentOperation } from '../actions/operations.ts'
import { html } from '../docs/html.ts'
import { pagePolicy } from '../http/browser.ts'
import { endPacked } from '../http/respond.ts'
import { frame, readerOf, type Reader } from './layout.ts'

const path = '/sandbox/pay'
const declined: RailState = { state: 'failed', code: 'payer_declined', message: 'The payer declined' }

/**
 * Where simulated wallets and banks send the payer's browser: here the payer decides the operator's answer.
 */
export function mountSandboxPayer(app: Express, dependencies: Dependencies): void {
  app.get(`${path}/:reference`, async (request, response) => {
    const { status } = await openPayment(dependencies, request)
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.setHeader('Content-Security-Policy', pagePolicy)
    endPacked(response, 200, page(request, status === 'pending'))
  })
  app.post(`${path}/:reference/approve`, (request, response) =>
    play(dependencies, { request, response, result: { state: 'succeeded' } }),
  )
  app.post(`${path}/:reference/decline`, (request, response) =>
    play(dependencies, { request, response, result: declined }),
  )
}

interface Play {
  readonly request: Request
  readonly response: Response
  readonly result: RailState
}

async function play(dependencies: Dependencies, { request, response, result }: Play): Promise<void> {
  const { id, resource, merchant, status } = await openPayment(dependencies, request)
  // A payer who presses twice is forwarded to the result of the first press.
  if (status === 'pending') {
    const command = commandAfter(id, await dependencies.sandboxRail.resolve(id, result))
    const envelope = { merchant, livemode: false, actor: 'rail', correlation: dependencies.newId() }
    await dependencies.executor.send(paymentIntent, resource, command, envelope)
  }
  response.redirect(303, `/operations/status/${publicId('op', id)}`)
}

async function openPayment(dependencies: Dependencies, { params }: Request): Promise<OperationRow> {
  const id = identity(params['reference'] as string, 'op') ?? refuse('resource_must_exist')
  const operation = await currentOperation(dependencies, id)
  if (!operation || operation.livemode || operation.type !== 'payment') refuse('resource_must_exist')
  return operation
}

function page(request: Request, isOpen: boolean): string {
  const language = (offered: readonly string[]) => request.acceptsLanguages([...offered]) || undefined
  const reader = readerOf({ query: request.query, path: request.path, language })
  const { words } = reader
  return frame(reader, {
    title: words.playPayer,
    isTest: true,
    content: html`<h1>${words.playPayer}</h1>
      <p>${isOpen ? words.playLead : words.decided}</p>
      ${isOpen && choices(request.params['reference'] as string, reader)}`,
  })
}

function choices(reference: string, { words, language }: Reader) {
  return html`<form method="post" action="${path}/${reference}/approve?lang=${language}">
      <button>${words.approve}</button>
    </form>
    <form method="post" action="${path}/${reference}/decline?lang=${language}">
      <button class="second">${words.decline}</button>
    </form>`
}
