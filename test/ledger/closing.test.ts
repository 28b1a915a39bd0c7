import t from 'tap'
import { book } from '../../packages/domain/ledger/book.ts'
import type { BookCommands } from '../../packages/domain/ledger/commands.ts'
import { decide, type Context, type Message } from '../../packages/kernel/decider.ts'
import type { LedgerEvents } from '../../packages/domain/ledger/events.ts'
import {
  advance,
  context,
  entryPosted,
  held,
  paid,
  post,
  payout,
  topup,
} from '../support/ledger/ledger-commands.ts'
import { fold } from '../support/scenarios.ts'

const november = '2026-11-01T00:00:00.000Z'
const inOctober = '2026-10-31T23:59:59.999Z'
const at = (now: string): Context => ({ ...context, now: new Date(now) })

type Command = Message<BookCommands>
type Event = Message<LedgerEvents>

/** The events that commands make, each at its time. */
function after(...sent: readonly (readonly [string, Command])[]): Event[] {
  return sent.reduce<Event[]>((events, [now, command]) => {
    return [...events, ...decide(book, command, fold(book, events), at(now))]
  }, [])
}

const close: Command = { type: 'CloseBook', data: { before: november } }
const reopen: Command = { type: 'ReopenBook', data: { before: '2026-10-01T00:00:00.000Z' } }

t.test(
  'what comes by a clock that is behind counts from the first open day, and says where it belongs',
  (t) => {
    const [, , entry] = after([inOctober, paid], [november, close], [inOctober, held])
    t.match(entry, { type: 'HoldPlaced', data: { effectiveAt: november, belongsTo: inOctober } })
    t.end()
  },
)

t.test('each step of a hold keeps out of a closed month, and so do corrections', (t) => {
  const events = after(
    [inOctober, paid],
    [inOctober, held],
    [november, close],
    [inOctober, advance(payout.id)],
  )
  t.match(events.at(-1), { type: 'HoldAdvanced', data: { effectiveAt: november, belongsTo: inOctober } })
  const effectiveAt = '2026-10-15T12:00:00.000Z'
  const reversal: Command = { type: 'ReverseEntry', data: { entry: entryPosted(paid), effectiveAt } }
  const closed = after([inOctober, paid], [november, close], ['2026-11-05T00:00:00.000Z', reversal])
  t.match(closed.at(-1), { data: { effectiveAt: november, belongsTo: effectiveAt } })
  const open = after([inOctober, paid], ['2026-11-05T00:00:00.000Z', reversal])
  t.match(open.at(-1), { data: { effectiveAt } })
  t.notOk('belongsTo' in open.at(-1)!.data)
  t.end()
})

t.test('what is not late is booked as ever', (t) => {
  const [, entry] = after(
    [november, close],
    [november, post({ template: 'sandbox.topup', subject: topup, amount: 1 })],
  )
  t.match(entry, { data: { effectiveAt: november } })
  t.notOk('belongsTo' in entry!.data)
  t.end()
})

t.test('a book is closed once by each time, never by an earlier one, and never ahead of its time', (t) => {
  t.equal(after([november, close], [november, close]).length, 1)
  const earlier: Command = { type: 'CloseBook', data: { before: '2026-10-01T00:00:00.000Z' } }
  t.equal(after([november, close], [november, earlier]).length, 1)
  t.throws(() => after([inOctober, close]), /is not over/)
  t.end()
})

t.test('a month that is opened again takes entries, and can be closed again', (t) => {
  const again = after(
    [november, close],
    [november, reopen],
    [inOctober, paid],
    [november, close],
    [inOctober, held],
  )
  t.match(again[1], { type: 'BookReopened' })
  t.match(again[2], { data: { effectiveAt: inOctober } })
  t.match(again.at(-1), { data: { effectiveAt: november, belongsTo: inOctober } })
  t.equal(after([november, reopen]).length, 0)
  t.end()
})

t.test('a snapshot keeps what is closed', (t) => {
  const state = fold(book, after([inOctober, paid], [november, close]))
  const restored = book.snapshot!.restored!(JSON.parse(JSON.stringify(state))) as typeof state
  const [entry] = decide(book, held, restored, at(inOctober))
  t.match(entry, { data: { effectiveAt: november, belongsTo: inOctober } })
  t.end()
})
