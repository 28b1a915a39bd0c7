import type { Command } from 'commander'
import { publicId } from '../../packages/contract/identity.ts'
import { idPrefixes } from '../../packages/domain/index.ts'
import { recordOf } from '../../packages/domain/payment-intents/late-words.ts'
import { isLateRefunded } from '../../packages/domain/payment-intents/late-refunds.ts'
import { failPayment } from '../../packages/domain/payment-intents/operator-answer.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { created, type CreatedIntent } from '../../packages/domain/payment-intents/state.ts'
import { payout, requested, type RequestedPayout } from '../../packages/domain/payouts/payout.ts'
import {
  refund,
  requested as requestedRefund,
  type RequestedRefund,
} from '../../packages/domain/refunds/refund.ts'
import { readCurrent } from '../../packages/kernel/history.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import { to, type PolicyCommand } from '../../packages/kernel/policy.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { commandOf, idOf } from './terminal/arguments.ts'
import { withRuntime } from './dependencies.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { intervene } from './intervene.ts'
import { signed, type Signed } from './audit/signed.ts'

/** What support may do to a resource: commands in order, each harmless when repeated. */
interface Verb<Resource> {
  readonly does: string
  readonly orders: (id: string, resource: Resource, reason: string) => readonly PolicyCommand[]
  /** What it moves, where that is not the resource's amount. */
  readonly amountOf?: (resource: Resource) => number
  readonly also?: (runtime: Runtime, id: string, resource: Resource) => Promise<void>
}

interface Seen<Resource> {
  readonly resource: Resource
  readonly revision: number
}

interface Kind<Resource> {
  /** `payouts`. */
  readonly group: string
  readonly about: string
  readonly named: 'payout' | 'refund' | 'payment_intent'
  /** Throws the refusal of an unknown id. */
  readonly read: (runtime: Runtime, id: string) => Promise<Seen<Resource>>
  readonly moneyOf: (resource: Resource) => { readonly amount: number; readonly currency: string }
  readonly verbs: Readonly<Record<string, Verb<Resource>>>
}

const payouts: Kind<RequestedPayout> = {
  group: 'payouts',
  about: 'payouts that an operator has told us about by other ways',
  named: 'payout',
  read: async ({ dependencies }, id) => {
    const { state, revision } = await readCurrent(dependencies.store, payout, id)
    return { resource: requested(state), revision }
  },
  moneyOf: ({ money: { amount, currency } }) => ({ amount, currency }),
  verbs: {
    settle: { does: 'the operator has paid it; one that failed here is charged again', orders: settle },
    fail: {
      does: 'the operator has not paid it and never will: its money is given back',
      orders: (id, _, message) => {
        const failure = { code: 'could_not_process', message } as const
        return [to(payout, id, { type: 'FailPayout', data: { failure } })]
      },
    },
    cancel: {
      does: 'cancel it before it is sent',
      orders: (id, _, reason) => [to(payout, id, { type: 'CancelPayout', data: { reason } })],
    },
    reverse: {
      does: 'what was paid has come back: its money is given back',
      orders: (id) => [to(payout, id, { type: 'ReturnPayout', data: {} })],
    },
    resend: {
      does: 'submit it again, if the operator guarantees that it has never received it',
      orders: () => [],
      also: resend,
    },
  },
}

function settle(id: string, { status }: RequestedPayout): readonly PolicyCommand[] {
  return [to(payout, id, { type: status === 'failed' ? 'ChargePayout' : 'SettlePayout', data: {} })]
}

async function resend(
  { dependencies: { rail } }: Runtime,
  id: string,
  asked: RequestedPayout,
): Promise<void> {
  const { status, merchant, livemode, money, destination: method } = asked
  if (status !== 'in_transit') throw new CommandFailedError(`A payout that is ${status} is not sent again.`)
  const { state } = await rail.status(id, { livemode, method })
  if (state !== 'never_received') throw new CommandFailedError(`The operator has it: it says ${state}.`)
  const { amount: amountMinor, currency } = money
  const kind = 'disbursement'
  await rail.submit({ reference: id, kind, merchant, livemode, amountMinor, currency, method })
}

const refunds: Kind<RequestedRefund> = {
  group: 'refunds',
  about: 'refunds that a provider has told us about by other ways',
  named: 'refund',
  read: async ({ dependencies }, id) => {
    const { state, revision } = await readCurrent(dependencies.store, refund, id)
    return { resource: requestedRefund(state), revision }
  },
  moneyOf: ({ amount, currency }) => ({ amount, currency }),
  verbs: {
    settle: {
      does: 'the provider has paid it back; one that failed here is charged',
      orders: (id, { status }) => {
        return [to(refund, id, { type: status === 'failed' ? 'ChargeRefund' : 'SettleRefund', data: {} })]
      },
    },
    fail: {
      does: 'the provider has not paid it back and never will: its amount is given back',
      orders: (id, { status }, message) => {
        const data = { word: 'failed', isConfirmed: true } as const
        if (status === 'succeeded') return [to(refund, id, { type: 'ContradictRefund', data })]
        return [to(refund, id, { type: 'FailRefund', data: { code: 'could_not_process', message } })]
      },
    },
  },
}

const payments: Kind<CreatedIntent> = {
  group: 'payments',
  about: 'payment intents whose provider has told us by other ways what came of the last confirmation',
  named: 'payment_intent',
  read: async ({ dependencies }, id) => {
    const { state, revision } = await readCurrent(dependencies.store, paymentIntent, id)
    return { resource: created(state), revision }
  },
  moneyOf: ({ amount, currency }) => ({ amount, currency }),
  verbs: {
    settle: {
      does: 'the payer has paid',
      orders: (id, intent) => {
        const data = { operationId: operationOf(intent), isConfirmed: true }
        return [to(paymentIntent, id, { type: 'CompletePayment', data })]
      },
    },
    fail: {
      does: 'the payer has not paid and never will; a payment that is booked here is taken back',
      orders: (id, intent, message) => {
        const data = { operationId: operationOf(intent), word: 'failed', isConfirmed: true } as const
        if (recordOf(intent, data.operationId))
          return [to(paymentIntent, id, { type: 'ContradictPayment', data })]
        return [to(paymentIntent, id, failPayment(operationOf(intent), 'processing_error', message))]
      },
    },
    'return-late': {
      does: 'send back what was paid late, under a new reference, once the provider has refused it for good',
      orders: resumeLateRefunds,
      amountOf: (intent) => intent.amount * keptLate(intent).length,
    },
  },
}

function resumeLateRefunds(id: string, intent: CreatedIntent): readonly PolicyCommand[] {
  if (intent.late.length === 0) throw new CommandFailedError('The intent was not paid late.')
  const kept = keptLate(intent)
  if (kept.length === 0) throw new CommandFailedError('All that was paid late has gone back.')
  return kept.map((operationId) => {
    return to(paymentIntent, id, { type: 'ResumeLateRefund', data: { operationId } })
  })
}

/** Operations whose late money is still with us. */
function keptLate(intent: CreatedIntent): readonly string[] {
  return intent.late.filter((operationId) => !isLateRefunded(intent, operationId))
}

function operationOf({ attempts }: CreatedIntent): string {
  const last = attempts.at(-1)
  if (last) return last.operationId
  throw new CommandFailedError('The intent was never confirmed: there is nothing to say about it.')
}

export function addSupport(program: Command): void {
  addKind(program, payouts)
  addKind(program, payments)
  addKind(program, refunds)
}

function addKind<Resource extends MerchantOwner>(program: Command, kind: Kind<Resource>): void {
  const { group: name, about, named, verbs } = kind
  const group = program.command(name).description(`${about}; large ones take two names`)
  for (const [verb, { does }] of Object.entries(verbs)) {
    signed(commandOf(group, verb, does))
      .argument(`<${named}>`, 'its id', idOf(named))
      .action((id: string, options: Signed) =>
        withRuntime((runtime) => act(runtime, { kind, verb, id }, options)),
      )
  }
}

interface Named<Resource> {
  readonly kind: Kind<Resource>
  readonly verb: string
  readonly id: string
}

async function act<Resource extends MerchantOwner>(
  runtime: Runtime,
  { kind, verb, id }: Named<Resource>,
  options: Signed,
): Promise<void> {
  const { group, named, verbs, moneyOf } = kind
  const subject = publicId(idPrefixes[named]!, id)
  const { resource, revision } = await kind.read(runtime, id).catch(() => {
    throw new CommandFailedError(`There is no ${named.replace('_', ' ')} ${subject}.`)
  })
  const { orders, amountOf, also } = verbs[verb]!
  const { merchant, livemode } = resource
  const act = {
    action: `${group} ${verb}`,
    id,
    subject,
    owner: { merchant, livemode },
    money: amountOf ? { ...moneyOf(resource), amount: amountOf(resource) } : moneyOf(resource),
    // What has happened since may change what it does.
    occasion: `at ${revision}`,
  }
  const what = { ...act, orders: orders(id, resource, options.reason) }
  await intervene(runtime, also ? { ...what, also: () => also(runtime, id, resource) } : what, options)
}
