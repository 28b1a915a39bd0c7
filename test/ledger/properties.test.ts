import t from 'tap'
import { Refusal, type RefusalName } from '../../packages/contract/refusals.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { Entry, HoldPart } from '../../packages/domain/ledger/events.ts'
import { pendingOf } from '../../packages/domain/ledger/holds.ts'
import { amountsOf } from '../../packages/domain/ledger/parts.ts'
import type { Book } from '../../packages/domain/ledger/state.ts'
import { entryTemplates, holdTemplates, moves } from '../../packages/domain/ledger/templates.ts'
import { evolve } from '../../packages/kernel/decider.ts'
import { entriesOf } from '../support/ledger/ledger-commands.ts'
import { fc } from '../support/properties.ts'
import { fold, frozen, stampOf } from '../support/scenarios.ts'
import { choices, type Choice } from '../support/ledger/ledger-choices.ts'
import { endedOf } from '../support/ledger/ledger-late-words.ts'
import { Notes, type Event, type Sent } from '../support/ledger/ledger-model.ts'

const templates = [
  ...Object.keys(entryTemplates),
  ...Object.keys(holdTemplates),
  ...Object.values(holdTemplates).flatMap(({ posted, voided }) => [posted, ...Object.values(voided)]),
  holdTemplates['payout.hold'].advanced,
]

/** `bug` is what only a broken caller can ask for. */
type Answer = readonly Event[] | RefusalName | 'bug'

function answer({ command, context }: Sent, state: Book): Answer {
  try {
    return entriesOf(command, state, context)
  } catch (error) {
    return error instanceof Refusal ? error.reason : 'bug'
  }
}

/** Carries out random choices and checks every law after each of them. */
function play(sequence: readonly Choice[]): readonly Event[] {
  const notes = new Notes()
  let state = book.initial()
  let restored = book.initial()
  for (const choice of sequence) {
    const sent = notes.next(choice)
    if (!sent) continue
    const answered = answer(sent, state)
    same(answer(sent, restored), answered, 'a snapshot decides the same')
    checkAnswer(answered, { sent, choice, notes, state })
    if (typeof answered === 'string') continue
    for (const event of answered) {
      state = evolve(book, state, frozen(event), stampOf(sent.context))
      restored = evolve(book, restored, event, stampOf(sent.context))
    }
    const snapshot = JSON.stringify(state)
    check(JSON.stringify(restored) === snapshot, 'a snapshot goes on as the same state')
    restored = book.snapshot!.restored!(JSON.parse(snapshot))
    notes.note(sent, answered)
    check(JSON.stringify(fold(book, notes.events)) === snapshot, 'the history makes the same state')
    same(answer(sent, state), [], 'what is sent again decides nothing')
    check(state.accounts === Object.keys(state.balances).length, 'accounts at zero cost nothing')
    checkBalances(state, notes)
    checkHolds(state, notes)
  }
  return notes.events
}

interface Asked {
  readonly sent: Sent
  readonly choice: Choice
  readonly notes: Notes
  readonly state: Book
}

function checkAnswer(answered: Answer, { sent, choice: { kind }, notes, state }: Asked): void {
  const { command } = sent
  const isDone = kind === 'repeat' && command.type !== 'ReleasePayment'
  if (isDone) same(answered, [], 'what was accepted decides nothing again')
  if (answered === 'bug') check(mayBeBug(sent, notes), `${command.type} is no bug`)
  if (command.type === 'PostEntry' && command.data.isRefusable)
    check(typeof answered !== 'string' || answered === 'bug', 'what may be refused is an event then')
  if (command.type === 'PlaceHold' && command.data.template === 'payout.hold' && kind === 'payout') {
    const { amount, fee } = amountsOf(command.data.parts)
    const isCovered = (state.balances['merchant.available'] ?? 0) >= amount + fee
    const isRefused = answered === 'balance_must_cover_amount_and_fees'
    check(isCovered !== isRefused, 'a payout is refused exactly when it is not covered')
  }
  if (typeof answered === 'string') return
  for (const { type, data } of answered) {
    if (type === 'EntryRefused') {
      check(answered.length === 1, 'what is refused moves nothing')
      continue
    }
    let sum = 0
    for (const { side, amount } of data.postings) sum += side === 'debit' ? amount : -amount
    check(sum === 0 && data.postings.length >= 2, `${data.template} balances`)
    const areExact = data.postings.every(({ amount }) => Number.isSafeInteger(amount) && amount > 0)
    check(areExact, 'amounts are positive')
  }
}

const refunds = ['refund.hold', 'order.refund_hold']
const irreversible = [
  'reversal',
  'payment.available',
  'transfer.out',
  'transfer.in',
  'transfer.settle',
  'transfer.back',
]

/** A hold that is changed, ends in two ways or was never placed; an id for two amounts. */
function mayBeBug({ command }: Sent, notes: Notes): boolean {
  if (command.type === 'PostEntry') return command.data.template === 'sandbox.topup'
  if (command.type === 'ReverseEntry') return irreversible.includes(command.data.entry.template)
  if (command.type === 'PlaceHold') return notes.holds.has(command.data.subject.id)
  if (command.type === 'ReleasePayment') return false
  const hold = notes.holds.get(command.data.holdId)
  if (!hold) return true
  if (command.type === 'AdvanceHold' && refunds.includes(hold.placed.template)) return true
  return !notes.open().includes(hold)
}

function checkBalances({ balances, pending }: Book, notes: Notes): void {
  for (const [account, debits] of notes.debits) {
    const isAsset = account.startsWith('provider:') || account === 'sandbox.funding'
    const balance = isAsset ? debits : 0 - debits
    check((balances[account] ?? 0) === balance, `${account} is what its postings add up to`)
    check(isAsset || debits <= 0, `${account} is not overdrawn`)
    check(Number.isSafeInteger(debits), `${account} is countable`)
  }
  for (const [payment, { amount, left }] of Object.entries(pending)) {
    const refunds = notes.open().filter(({ placed }) => placed.pending?.payment === payment)
    const heldSum = pendingOf(refunds.flatMap((hold) => notes.openParts(hold)))
    check(left > 0 && left === amount + heldSum, 'left is what is pending or held for refunds')
  }
  const unreleased = Object.values(pending).reduce((sum, { amount }) => sum + amount, 0)
  check((balances['merchant.pending'] ?? 0) === unreleased, 'pending is the sum of unreleased payments')
}

function checkHolds({ balances, holds, openHolds }: Book, notes: Notes): void {
  const open = notes.open()
  const parts = open.flatMap((hold) => notes.openParts(hold))
  const { amount, fee } = amountsOf(parts)
  const total = amount + fee
  const held = (balances['merchant.reserved'] ?? 0) + (balances['clearing.payout'] ?? 0)
  check(held === total, 'reserved and clearing are the sum of open holds')
  check(openHolds === open.length, 'the book counts the open holds')
  check(Object.keys(holds).length === open.length, 'the book knows the open holds')
  check(Object.values(holds).flatMap((hold) => hold.parts).length === parts.length, 'and their open parts')
  const ended = new Set<string>()
  const entries = new Set<string>()
  const paidOut = new Map(endedOf(notes.holds.values()).map(({ subject, parts }) => [subject.id, parts]))
  for (const event of notes.events) {
    const { type, data } = event
    if (type === 'EntryRefused') continue
    check(!entries.has(data.entryId), 'entry ids are unique')
    entries.add(data.entryId)
    if (type === 'EntryPosted') checkLateWord(data, paidOut)
    if (type !== 'HoldPosted' && type !== 'HoldVoided') continue
    for (const part of notes.partsOf(event)) {
      check(!ended.has(`${data.holdId} ${part.id}`), 'a part ends once')
      ended.add(`${data.holdId} ${part.id}`)
    }
    if (type === 'HoldVoided')
      same(moved(data, 'credit'), taken(notes.partsOf(event)), 'what was taken is given back')
    if (type === 'HoldPosted') same(earned(data), amountsOf(notes.partsOf(event)).fee, 'a fee is earned once')
  }
}

/** Whatever a payout consists of: its sources are whole again, and no fee of it is left; or all is paid. */
function checkLateWord(
  { template, subject, postings }: Entry & { readonly template: string },
  paidOut: PaidOut,
) {
  if (template !== 'payout.return' && template !== 'payout.paid_late') return
  const parts = paidOut.get(subject.id)!
  const isBack = template === 'payout.return'
  same(moved({ postings }, isBack ? 'credit' : 'debit'), taken(parts), 'the sources get or give all of it')
  const { amount } = amountsOf(parts)
  const fees = new Map<string, number>()
  for (const { feeAccount, fee } of parts)
    if (feeAccount && fee > 0) fees.set(feeAccount, (fees.get(feeAccount) ?? 0) + fee)
  const atRail = amount > 0 ? [[`provider:${parts[0]!.rail}`, amount]] : []
  same(moved({ postings }, isBack ? 'debit' : 'credit'), [...atRail, ...fees], 'and fees go with it')
}

type PaidOut = ReadonlyMap<string, readonly HoldPart[]>

/** What was taken from each source. */
function taken(parts: readonly HoldPart[]) {
  const sums = new Map<string, number>()
  for (const { source, amount, fee } of parts) sums.set(source, (sums.get(source) ?? 0) + amount + fee)
  return [...sums]
}

function earned({ postings }: Entry): number {
  const fees = postings.filter(({ account }) => account.startsWith('revenue.'))
  return fees.reduce((sum, { amount }) => sum + amount, 0)
}

function moved({ postings }: Pick<Entry, 'postings'>, side: 'debit' | 'credit') {
  return postings.filter((posting) => posting.side === side).map(({ account, amount }) => [account, amount])
}

function check(holds: boolean, law: string): void {
  if (!holds) throw new Error(law)
}

/** Equal as JSON, also in the order of fields: the same steps make the same text. */
function same(found: unknown, wanted: unknown, law: string): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (one !== other) throw new Error(`${law}: ${one} is not ${other}`)
}

const moveNames = Object.keys(moves)

/** Money comes in and goes on by every way, also backwards: chance reaches the last ones too seldom. */
const everyMove = [
  choice('topup', 0, 1_200_000),
  ...[0, 1, 2, 3, 4].map((pick) => choice('collected', pick, 1_200_000)),
  ...[...moveNames.keys(), ...moveNames.keys()].map((pick, turn) => choice('move', pick, 60_000 + turn)),
  ...[...moveNames.keys()].reverse().flatMap((pick, turn) => {
    return [choice('move', moveNames.indexOf('transfer.out'), 60_000), choice('move', pick, 60_000 + turn)]
  }),
]

function choice(kind: Choice['kind'], pick: number, amount: number): Choice {
  return { kind, pick, amount, fee: 0, byPolicy: true }
}

t.test('no sequence of commands breaks a law of the ledger', async (t) => {
  const written = new Set<string>()
  let refused = 0
  const property = fc.property(choices, (sequence) => {
    for (const { type, data } of play(sequence)) {
      if (type === 'EntryRefused') refused++
      else written.add(data.template)
    }
  })
  fc.assert(property, { numRuns: 3_000, examples: [[everyMove]] })
  t.strictSame([...written].sort(), [...new Set(templates)].sort(), 'every template was played')
  t.ok(refused > 100, `${refused} entries were refused`)
})
