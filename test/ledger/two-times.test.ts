import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { ledgerEvents, type LedgerEvents } from '../../packages/domain/ledger/events.ts'
import type { NewEvent } from '../../packages/kernel/ports.ts'
import { fc } from '../support/properties.ts'
import { replayDifferences } from '../support/verifying/replay.ts'
import { balanceDays, balances } from '../../projections/balances.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const runtime = () => service.service.runtime
const owner = () => ({ merchant: service.service.credentials.merchant_id, livemode: true })

interface Written {
  readonly at: string
  readonly effectiveAt: string
  readonly amount: number
}

/** An entry as a process writes it whose clock shows this time. */
function entry(currency: string, { at, effectiveAt, amount }: Written): NewEvent {
  const data: LedgerEvents['EntryPosted'] = {
    entryId: randomUUID(),
    template: 'payment.succeeded',
    subject: { type: 'payment', id: randomUUID() },
    postings: [
      { account: 'provider:card', side: 'debit', amount },
      { account: 'merchant.available', side: 'credit', amount },
    ],
    amounts: { amount, fee: 0 },
    currency,
    effectiveAt,
  }
  const { version } = ledgerEvents.EntryPosted
  const salt = randomBytes(16).toString('base64url')
  const metadata = { ...owner(), actor: 'test', at, version, correlation: randomUUID(), salt }
  return { id: randomUUID(), type: 'EntryPosted', data, metadata }
}

const time = fc
  .record({ day: fc.integer({ min: 1, max: 5 }), minute: fc.constantFrom(0, 1, 719, 1_438, 1_439) })
  .map(({ day, minute }) => new Date(Date.UTC(2026, 0, day, 0, minute)).toISOString())
const written = fc.record({ at: time, effectiveAt: time, amount: fc.integer({ min: 1, max: 1_000_000 }) })
/** Late, early, or by a clock that went back; mostly the time at which it is written. */
const entries = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: written.map((one) => ({ ...one, effectiveAt: one.at })) },
    { weight: 1, arbitrary: written },
  ),
  { minLength: 1, maxLength: 40 },
)
const moments = fc.array(fc.record({ as_of: time, known_at: time }, { requiredKeys: [] }), {
  minLength: 8,
  maxLength: 8,
})

function naive(history: readonly Written[], { as_of = '9', known_at = '9' }): number {
  const cut = history.findIndex(({ at }) => at > known_at)
  const known = cut < 0 ? history : history.slice(0, cut)
  return known.reduce((sum, { effectiveAt, amount }) => sum + (effectiveAt <= as_of ? amount : 0), 0)
}

async function available(currency: string, moment: Readonly<Record<string, string>>): Promise<number> {
  const query = new URLSearchParams({ currency, ...moment })
  const { status, body } = await service.get(`/api/v1/balance?${query}`, { key: service.liveKey })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return (body['available'] as readonly { amount: number }[])[0]!.amount
}

/** The same by SQL, as finance asks for it; what nobody has is left out there. */
async function availableBySql(currency: string, { as_of = 'infinity', known_at = 'infinity' }) {
  const { rows } = await runtime().postgres.pool.query<{ balance: string }>(
    `select balance from finance.balances_at($1, $2) where book = $3 and account = 'merchant.available'`,
    [as_of, known_at, bookId(owner().merchant, true, currency)],
  )
  return Number(rows[0]?.balance ?? 0)
}

t.test('a balance as of a time and as known at a time is what a naive count says', async () => {
  const { store, reads } = runtime().dependencies
  const books = ['XOF', 'XAF', 'GNF', 'NGN', 'GHS', 'KES', 'USD', 'EUR']
  const histories = new Map<string, Written[]>()
  const property = fc.asyncProperty(
    fc.constantFrom(...books),
    entries,
    moments,
    fc.boolean(),
    async (currency, more, asked, isRead) => {
      const history = histories.get(currency) ?? []
      histories.set(currency, history)
      const stream = `ledger-${bookId(owner().merchant, true, currency)}`
      await store.append(
        stream,
        history.length - 1,
        more.map((one) => entry(currency, one)),
      )
      history.push(...more)
      // The same answers whether the read models are behind or not.
      if (isRead) await reads.reached(await store.head(), 10_000)
      for (const moment of asked) {
        const wanted = naive(history, moment)
        const found = [await available(currency, moment)]
        if (isRead) found.push(await availableBySql(currency, moment))
        if (found.some((each) => each !== wanted))
          throw new Error(`${currency} ${JSON.stringify(moment)}: ${found.join(' and ')}, not ${wanted}`)
      }
      const [now, whole] = [await available(currency, {}), naive(history, {})]
      if (now !== whole) throw new Error(`${currency} now: ${now}, not ${whole}`)
    },
  )
  // Books only grow, so a failing history cannot be made smaller.
  await fc.assert(property, { numRuns: 40, endOnFailure: true })
})

t.test('the read models are what the whole log makes of them', async (t) => {
  const { store, reads } = runtime().dependencies
  await reads.reached(await store.head(), 10_000)
  t.strictSame(await replayDifferences(runtime(), [balances, balanceDays]), {})
})

t.test('an answer says which times it is about, and nonsense is refused', async (t) => {
  const asked = 'as_of=2026-01-03T00:00:00Z&known_at=2026-01-02T00:00:00Z'
  const { body } = await service.get(`/api/v1/balance?${asked}`)
  t.match(body, { as_of: '2026-01-03T00:00:00.000Z', known_at: '2026-01-02T00:00:00.000Z' })
  const refused = await service.get('/api/v1/balance?known_at=yesterday')
  t.equal(refused.status, 400)
  t.match(JSON.stringify(refused.body), /known_at/)
})
