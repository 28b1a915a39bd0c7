import t from 'tap'
import { derivedId } from '../../packages/contract/identity.ts'
import { account } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { emptyBook, spendable, type Book } from '../../packages/domain/ledger/state.ts'
import { evolve } from '../../packages/kernel/decider.ts'
import {
  context,
  entriesOf,
  later,
  paidByCard,
  post,
  type Command,
} from '../support/ledger/ledger-commands.ts'
import { stampOf } from '../support/scenarios.ts'

const namespace = '00000000-0000-7000-8000-00000000000b'
const id = (number: number) => derivedId(namespace, String(number))
const wallet = (number: number) => account('wallet', id(number))

/** Each of another customer. */
function walletTopUp(number: number, availableAt = later): Command {
  const credits = [{ account: wallet(number), amount: 500 }]
  const subject = { type: 'payment', id: derivedId(id(number), 'payment') }
  return post({ template: 'wallet.topup', subject, rail: 'card', amount: 500, fee: 0, credits, availableAt })
}

let position = 0

/** As a policy sends it. */
function applied(state: Book, command: Command, by = context): Book {
  const events = entriesOf(command, state, { ...by, cause: { policy: 'test', position: ++position } })
  return events.reduce((before, event) => evolve(book, before, event, stampOf(by)), state)
}

/** A book that counts how often an account or payment is looked up among the young money. */
function countingBook(): { readonly state: Book; readonly looks: () => number } {
  let looks = 0
  const count = <Of extends object>(of: Of) => {
    return new Proxy(of, { get: (target, key) => (looks++, Reflect.get(target, key)) })
  }
  return { state: { ...emptyBook(), young: count({}) }, looks: () => looks }
}

t.test('what a wallet may spend, and topping it up, cost nothing for the young money of others', (t) => {
  const wallets = 2_000
  const { state, looks } = countingBook()
  for (let number = 0; number < wallets; number++) applied(state, walletTopUp(number))
  t.ok(looks() <= 10 * wallets, `${looks()} looks for ${wallets} top-ups`)
  const before = looks()
  t.equal(spendable(state, wallet(7), context.now), 0)
  t.equal(spendable(state, wallet(7), new Date(later)), 500)
  t.ok(looks() - before <= 4, `${looks() - before} looks for two decisions`)
  t.end()
})

t.test('money that has become old is dropped, also of wallets that are never used again', (t) => {
  const begun = context.now.getTime()
  let state = emptyBook()
  let most = 0
  for (let hour = 0; hour < 2_000; hour++) {
    const now = new Date(begun + hour * 3_600_000)
    const until = new Date(now.getTime() + 48 * 3_600_000).toISOString()
    state = applied(state, walletTopUp(hour, until), { ...context, now })
    most = Math.max(most, state.youngPayments)
  }
  t.ok(most <= 2 * 64, `${most} at most, of which 48 are young`)
  t.equal(Object.values(state.young).flat().length, state.youngPayments)
  t.end()
})

t.test('a snapshot is as rare as what it keeps is large, whatever that is', (t) => {
  const many = 4_000
  const { every } = book.snapshot!
  const pending = Array.from({ length: many }, (_, number) => {
    return post({ ...paidByCard.data, subject: { type: 'payment', id: id(number) } } as never)
  })
  const young = Array.from({ length: many }, (_, number) => walletTopUp(number))
  for (const commands of [pending, young]) {
    const state = commands.reduce((before, command) => applied(before, command), emptyBook())
    t.ok(every(state) >= many / 4, `${every(state)} entries for ${many} payments`)
  }
  t.end()
})
