import type { Express, Request, Response } from 'express'
import { identity, publicId } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { OperationRow } from '../../../packages/domain/payment-intents/operation.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { commandAfter } from '../../../packages/domain/payment-intents/operator-answer.ts'
import type { RailState } from '../../../packages/kernel/ports/rails.ts'
import { currentOperation, payersPayment } from '../actions/operations.ts'
import { html } from '../docs/html.ts'
import { pagePolicy } from '../http/browser.ts'
import { endPacked } from '../http/respond.ts'
import { frame, merchantOf, readerOf, type Reader } from './layout.ts'
import { sumOf } from './operation.ts'

const path = '/sandbox/pay'
const declined: RailState = { state: 'failed', code: 'payer_declined', message: 'The payer declined' }

/**
 * Where simulated wallets and banks send the payer's browser: here the payer decides the operator's answer.
 */
export function mountSandboxPayer(app: Express, dependencies: Dependencies): void {
  app.get(`${path}/:reference`, async (request, response) => {
    const operation = await openPayment(dependencies, request)
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.setHeader('Content-Security-Policy', pagePolicy)
    endPacked(response, 200, await page(dependencies, request, operation))
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
  response.redirect(303, `/operations/status/${publicId('op', id)}${readerFor(request).here}`)
}

async function openPayment(dependencies: Dependencies, { params }: Request): Promise<OperationRow> {
  const id = identity(params['reference'] as string, 'op') ?? refuse('resource_must_exist')
  const operation = await currentOperation(dependencies, id)
  if (!operation || operation.livemode || operation.type !== 'payment') refuse('resource_must_exist')
  return operation
}

async function page(
  dependencies: Dependencies,
  request: Request,
  { id, resource, status }: OperationRow,
): Promise<string> {
  const reader = readerFor(request)
  const { words } = reader
  const payment = (await payersPayment(dependencies, id, resource)) ?? refuse('resource_must_exist')
  const isOpen = status === 'pending'
  return frame(reader, {
    title: words.playPayer,
    ...merchantOf(payment),
    content: html`${sumOf(payment, reader)}
      <h1>${words.playPayer}</h1>
      <p>${isOpen ? words.playLead : words.decided}</p>
      ${isOpen && choices(publicId('op', id), reader)}`,
  })
}

function readerFor(request: Request): Reader {
  const { query, path } = request
  return readerOf({ query, path, language: (offered) => request.acceptsLanguages([...offered]) || undefined })
}

function choices(reference: string, { words, language }: Reader) {
  return html`<form method="post" action="${path}/${reference}/approve?lang=${language}">
      <button>${words.approve}</button>
    </form>
    <form method="post" action="${path}/${reference}/decline?lang=${language}">
      <button class="second">${words.decline}</button>
    </form>`
}
