import t from 'tap'
import { Refusal } from '../../packages/contract/refusals.ts'
import { merchantAvailable } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balanceOf, type Book } from '../../packages/domain/ledger/state.ts'
import {
  AppendTooLargeError,
  OutcomeUnknownError,
  StoreOverloadedError,
  type EventStore,
} from '../../packages/kernel/ports.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { snapshotOf } from '../../packages/kernel/history.ts'
import { envelope, hold, id, openLog, topUp } from '../support/event-store/shared-log.ts'

t.test('a process refuses by what the stream says now, not by what it remembers', async (t) => {
  const { process } = openLog()
  const one = process()
  const other = process()
  await one.send(book, id, topUp('first', 100), envelope)
  await other.send(book, id, topUp('second', 900), envelope)
  const placed = await one.send(book, id, hold('payout', 950), envelope)
  t.equal(placed.appended, 1)
})

t.test('a process answers a stream as it is now, not as it remembers it', async (t) => {
  const { process } = openLog()
  const one = process()
  const other = process()
  await one.send(book, id, topUp('first', 100), envelope)
  await other.send(book, id, topUp('second', 900), envelope)
  const { state, revision } = await one.sendAll(book, id, [])
  t.equal(revision, 1)
  t.equal(balanceOf(state as Book, merchantAvailable), 1_000)
})

t.test('a process that remembers too little does not take an order for a mistake', async (t) => {
  const { process } = openLog()
  const api = process()
  const worker = process()
  await api.send(book, id, topUp('first', 100), envelope)
  await worker.send(book, id, topUp('second', 100), envelope)
  await api.send(book, id, hold('payout', 50), envelope)
  const { subject } = hold('payout', 50).data
  const advance = { type: 'AdvanceHold', data: { holdId: subject.id } } as const
  t.equal((await worker.send(book, id, advance, envelope)).appended, 1)
  t.equal((await api.send(book, id, advance, envelope)).appended, 0)
})

t.test('what must be new is refused when this process or another one has written to it', async (t) => {
  const { log, process } = openLog()
  const [one, other] = [process(), process()]
  const asNew = { ...envelope, mustBeNew: true }
  t.equal((await one.send(book, id, topUp('first', 100), asNew)).revision, 0)
  for (const late of [one, other]) {
    const refused = late.send(book, id, topUp('second', 100), asNew)
    await t.rejects(refused, new Refusal('resource_must_not_have_changed'))
  }
  t.equal(log.events.length, 1)
})

t.test('a stream that is probably new is read only where that was wrong', async (t) => {
  const { store, process } = openLog()
  const read = store.readStream.bind(store)
  let reads = 0
  store.readStream = (...part) => {
    reads++
    return read(...part)
  }
  const [one, other] = [process(), process()]
  const asNew = { ...envelope, isNew: true }
  t.equal((await one.send(book, id, topUp('first', 100), asNew)).revision, 0)
  t.equal(reads, 0)
  t.equal((await other.send(book, id, topUp('first', 100), asNew)).appended, 0, 'a repeat')
  t.ok(reads > 0)
})

t.test('a process that begins with a snapshot knows what had ended before it', async (t) => {
  const { process, snapshots } = openLog()
  const before = process()
  const asked = hold('payout', 50)
  const { subject } = asked.data
  await before.send(book, id, topUp('first', 100), envelope)
  await before.send(book, id, asked, envelope)
  await before.send(book, id, { type: 'VoidHold', data: { holdId: subject.id } }, envelope)
  for (let more = 0; more < 300; more++) await before.send(book, id, topUp(`more ${more}`, 1), envelope)
  t.match(await snapshotOf(snapshots, book, streamName(book.category, id)), { revision: 255 })
  const next = process()
  t.equal((await next.send(book, id, asked, envelope)).appended, 0)
  t.equal((await next.send(book, id, topUp('first', 100), envelope)).appended, 0)
  const settled = { type: 'PostHold', data: { holdId: subject.id, rail: 'mobile_money.SN.wave' } } as const
  await t.rejects(next.send(book, id, settled, envelope), { message: /was voided/ })
})

t.test('commands that are too large together are written one after the other', async (t) => {
  const { log, store, process } = openLog()
  const limited: EventStore['append'] = async (stream, expected, events) => {
    if (events.length > 3) throw new AppendTooLargeError(stream, 'more than three events')
    return store.append(stream, expected, events)
  }
  const one = process(limited)
  const orders = Array.from({ length: 100 }, (_, number) => topUp(`unit ${number}`, 100))
  const outcomes = await Promise.all(orders.map((order) => one.send(book, id, order, envelope)))
  t.ok(outcomes.every(({ appended }) => appended === 1))
  t.equal(log.events.length, 100)
  const commands = ['a', 'b', 'c', 'd'].map((name) => ({ command: topUp(name, 100), envelope }))
  await t.rejects(one.sendAll(book, id, commands), AppendTooLargeError)
  t.equal(balanceOf((await one.sendAll(book, id, [])).state as Book, merchantAvailable), 10_000)
})

t.test('an append that may have happened is not answered as one that was not accepted', async (t) => {
  const { log, store, process } = openLog()
  let tries = 0
  const breaking: EventStore['append'] = async (stream, expected, events) => {
    if (++tries > 1) throw new StoreOverloadedError(stream)
    await store.append(stream, expected, events)
    throw new OutcomeUnknownError(stream, new Error('the connection broke'))
  }
  await t.rejects(process(breaking).send(book, id, topUp('first', 100), envelope), OutcomeUnknownError)
  t.equal(log.events.length, 1)
})

t.test(
  'given a conflict, when two processes go on writing to one stream, then they look first',
  async (t) => {
    const { store, process } = openLog()
    let conflicts = 0
    const counting: EventStore['append'] = (stream, expected, events) =>
      store.append(stream, expected, events).catch((error: unknown) => {
        conflicts++
        throw error
      })
    const [one, other] = [process(counting), process(counting)]
    for (let turn = 0; turn < 50; turn++) {
      await one.send(book, id, topUp(`one ${turn}`, 100), envelope)
      await other.send(book, id, topUp(`other ${turn}`, 100), envelope)
    }
    const { state, revision } = await other.sendAll(book, id, [])
    t.equal(balanceOf(state as Book, merchantAvailable), 10_000)
    t.equal(revision, 99)
    t.equal(conflicts, 2)
  },
)

t.test('a command is decided eight times before a busy stream refuses it', async (t) => {
  const { log, store, process } = openLog()
  const rival = process()
  let rivals = 0
  const outrun: EventStore['append'] = async (stream, expected, events) => {
    if (rivals-- > 0) await rival.send(book, id, topUp(`rival at ${log.events.length}`, 1), envelope)
    return store.append(stream, expected, events)
  }
  rivals = 7
  t.equal((await process(outrun).send(book, id, topUp('in the end', 100), envelope)).revision, 7)
  rivals = 8
  const refused = process(outrun).send(book, id, topUp('never', 100), envelope)
  await t.rejects(refused, new Refusal('resource_must_not_have_changed'))
  t.equal(log.events.length, 16)
})
