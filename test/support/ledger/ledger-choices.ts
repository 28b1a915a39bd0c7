import type { BookCommands } from '../../../packages/domain/ledger/commands.ts'
import type { Subject } from '../../../packages/domain/ledger/events.ts'
import { moves } from '../../../packages/domain/ledger/templates.ts'
import type { Message } from '../../../packages/kernel/decider.ts'
import { fc } from '../properties.ts'

export type Command = Message<Omit<BookCommands, 'CloseBook' | 'ReopenBook'>>

/** One random choice; its meaning depends on what has happened before. */
export interface Choice {
  readonly kind: (typeof kinds)[number]
  readonly pick: number
  readonly amount: number
  readonly fee: number
  readonly byPolicy: boolean
}

export const kinds = [
  'topup',
  'payment',
  'card',
  'late',
  'late refund',
  'collected',
  'collected',
  'move',
  'move',
  'move',
  'payout',
  'payout',
  'escrow payout',
  'batch',
  'refund',
  'refund',
  'order refund',
  'advance',
  'advance',
  'settle',
  'settle',
  'void',
  'void',
  'give back',
  'return',
  'late word',
  'late word',
  'release',
  'reverse',
  'repeat',
  'repeat',
  'stranger',
  'other amount',
] as const

export const choices: fc.Arbitrary<Choice[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    pick: fc.nat(60),
    amount: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 1, max: 200 }) },
      { weight: 1, arbitrary: fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 150) },
    ),
    fee: fc.integer({ min: 0, max: 20 }),
    byPolicy: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30, size: 'max' },
)

export const causedAlways: readonly string[] = [
  'payment',
  'card',
  'late',
  'collected',
  'move',
  'return',
  'late word',
  'advance',
  'settle',
  'void',
  'give back',
]
export const causedNever: readonly string[] = ['topup', 'release', 'reverse']
export const source = 'merchant.available'
export const rail = 'mobile_money.SN.wave'

/** One account of each kind. */
export const accounts = {
  provider: 'provider:internal',
  'merchant.available': source,
  'merchant.custom': 'merchant.custom:savings',
  wallet: 'wallet:awa',
  'escrow.held': 'escrow.held:contract',
  'escrow.disputed': 'escrow.disputed:contract',
  campaign: 'campaign:school',
  'seller.pending': 'seller.pending:binta',
  'seller.available': 'seller.available:binta',
  'transfer.clearing': 'transfer.clearing:one',
} as const

export const deferred: readonly string[] = ['payment.succeeded_deferred', 'order.paid_deferred']
export const afterTheEnd: readonly string[] = [
  'payout.return',
  'payout.paid_late',
  'refund.paid_late',
  'refund.return',
]
export const collectedTemplates = [
  'wallet.topup',
  'escrow.fund',
  'contribution.succeeded',
  'order.paid',
  'order.paid_deferred',
] as const

export type HoldKind = 'escrow payout' | 'payout' | 'batch' | 'refund' | 'order refund' | 'other amount'

export const commandOf = { advance: 'AdvanceHold', settle: 'PostHold', void: 'VoidHold' } as const

export function collectedFor(subject: Subject, { pick, amount: wanted, fee }: Choice): Command {
  const amount = Math.min(wanted, Number.MAX_SAFE_INTEGER - 1_000)
  const template = one(collectedTemplates, pick)!
  const total = amount + fee
  if (template === 'order.paid' || template === 'order.paid_deferred') {
    const own = [{ account: source, amount: amount - Math.ceil(amount / 3) + 1 } as const]
    const credits = [...own, { account: accounts['seller.pending'], amount: Math.ceil(amount / 3) }]
    const paid = { subject, rail, amount: amount + 1 + fee, fee, credits }
    if (template === 'order.paid') return post({ template, ...paid })
    return post({ template, ...paid, availableAt: '2026-01-03T12:00:00.000Z' })
  }
  const account = {
    'wallet.topup': 'wallet',
    'escrow.fund': 'escrow.held',
    'contribution.succeeded': 'campaign',
  } as const
  const credits = [{ account: accounts[account[template]], amount: total }]
  return post({ template, subject, rail, amount: total, fee: 0, credits })
}

export function moveFor(subject: Subject, { pick, amount, fee }: Choice): Command {
  const names = Object.keys(moves) as (keyof typeof moves)[]
  const template = one(names, pick)!
  const move = moves[template]
  const [from, to] = [
    one<keyof typeof accounts>(move.from, amount)!,
    one<keyof typeof accounts>(move.to, fee)!,
  ]
  const small = Math.ceil(amount / 20)
  const moved = {
    from: accounts[from],
    to: accounts[to],
    amount: small,
    fee: 'fees' in move ? Math.min(fee, small) : 0,
  }
  return post({ template, subject, ...moved })
}

export function post(data: BookCommands['PostEntry']): Command {
  return { type: 'PostEntry', data }
}

export function place(data: BookCommands['PlaceHold']): Command {
  return { type: 'PlaceHold', data }
}

export function one<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items.length === 0 ? undefined : items[pick % items.length]
}
