import t from 'tap'
import { deciders } from '../../packages/domain/index.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { transferPolicies } from '../../packages/domain/transfers/policies.ts'
import { transfer } from '../../packages/domain/transfers/transfer.ts'
import { derivedId } from '../../packages/contract/identity.ts'
import { readState } from '../../packages/kernel/history.ts'
import { verifyLog } from '../../services/audit/verify.ts'
import { PolicyRunner } from '../../services/processes/runner/policies.ts'
import { fc } from '../support/properties.ts'
import { openLog } from '../support/event-store/shared-log.ts'

const merchants = [
  '0190a1b2-0000-7000-8000-00000000000a',
  '0190a1b2-0000-7000-8000-00000000000b',
  '0190a1b2-0000-7000-8000-00000000000c',
] as const
const bookOf = (merchant: string) => bookId(merchant, false, 'XOF')
const envelopeOf = (merchant: string) => {
  return { merchant, livemode: false, actor: 'key:a', correlation: 'a test' } as const
}
/** The last book has room for little more. */
const openings = [500, 1_000, Number.MAX_SAFE_INTEGER - 300]

type Step =
  | { readonly kind: 'ask'; readonly from: number; readonly to: number; readonly amount: number }
  /** Policies handle some events; a crash loses what they have not noted, and all memory. */
  | { readonly kind: 'follow' | 'crash'; readonly events: number }

const merchantNumber = fc.nat(merchants.length - 1)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      from: merchantNumber,
      to: merchantNumber,
      amount: fc.integer({ min: 1, max: 400 }),
    }),
    fc.record({ kind: fc.constantFrom('follow', 'follow', 'crash'), events: fc.integer({ min: 1, max: 6 }) }),
  ),
  { maxLength: 40, size: 'max' },
)

async function play(sequence: readonly Step[]): Promise<readonly string[]> {
  const { log, store, process } = openLog()
  const byCategory = new Map(deciders.map((decider) => [decider.category, decider]))
  const parked = {
    has: () => false,
    holds: async () => false,
    parkBehind: async () => false,
    park: async (stream: string, _: unknown, error: string) => {
      throw new Error(`${stream} is parked: ${error}`)
    },
  }
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
  let executor = process()
  const runner = () =>
    new PolicyRunner({ policies: transferPolicies, deciders: byCategory, executor, parked, log: silent })
  let policies = runner()
  let position = 0
  const follow = async (limit: number) => {
    const events = log.behind(position, limit)
    await policies.handle(events)
    position = events.at(-1)?.position ?? position
    return events.length
  }
  for (const [index, merchant] of merchants.entries()) {
    const paid = { template: 'payment.succeeded', rail: 'card', amount: openings[index]!, fee: 0 } as const
    const data = { ...paid, subject: { type: 'payment', id: derivedId(merchant, 'opening') } }
    await executor.send(book, bookOf(merchant), { type: 'PostEntry', data }, envelopeOf(merchant))
  }
  const asked: string[] = []
  for (const step of sequence) {
    if (step.kind === 'follow') await follow(step.events)
    if (step.kind === 'crash') {
      executor = process()
      policies = runner()
      const handled = log.events.filter((event) => event.position <= position)
      position = handled.at(-1 - step.events)?.position ?? 0
    }
    if (step.kind !== 'ask' || step.from === step.to) continue
    const [from, to] = [merchants[step.from]!, merchants[step.to]!]
    const id = derivedId(from, `transfer ${asked.length}`)
    const data = {
      amount: step.amount,
      currency: 'XOF',
      from: { merchant: from, account: 'merchant.available' as const },
      to: { merchant: to, account: 'merchant.available' as const },
      description: null,
    }
    await executor.send(transfer, id, { type: 'RequestTransfer', data }, envelopeOf(from))
    asked.push(id)
    await check(store, false)
  }
  while ((await follow(3)) > 0);
  // All once more, from the beginning: nothing is done twice.
  const { head } = log
  position = 0
  while ((await follow(5)) > 0);
  if (log.head !== head) throw new Error('a repeat has written something')
  await check(store, true)
  return Promise.all(asked.map(async (id) => (await readState(store, transfer, id)).status))
}

type Store = ReturnType<typeof openLog>['store']

/** The auditor counts again, and the books' own states say where the money is. */
async function check(store: Store, isOver: boolean): Promise<void> {
  const policiesThrough = isOver ? Number.MAX_SAFE_INTEGER : 0
  const options = { store, deciders, policiesThrough, now: new Date(0), onProgress: () => undefined }
  const { violations } = await verifyLog(options)
  const foreseen = violations.filter(({ problem }) => !problem.includes('payment.succeeded'))
  if (foreseen.length > 0) throw new Error(JSON.stringify(foreseen))
  const states = await Promise.all(merchants.map((merchant) => readState(store, book, bookOf(merchant))))
  const total = (name: string) => {
    const found = states.flatMap(({ balances }) =>
      Object.entries(balances).filter(([code]) => code.startsWith(name)),
    )
    return found.reduce((sum, [, balance]) => sum + BigInt(balance), 0n)
  }
  const clearing = total('transfer.clearing')
  const internal = total('provider:internal')
  const opened = openings.reduce((sum, amount) => sum + BigInt(amount), 0n)
  if (internal > clearing || internal < 0n)
    throw new Error(`${internal} between books, ${clearing} in clearing`)
  if (total('merchant.available') + clearing - internal !== opened) throw new Error('money is lost or made')
  if (isOver && (clearing !== 0n || internal !== 0n)) throw new Error(`${clearing} stays in clearing`)
}

t.test(
  'money that goes between books arrives or comes back, whatever is cut short or repeated',
  async (t) => {
    const ends = new Set<string>()
    const property = fc.asyncProperty(steps, async (sequence) => {
      for (const status of await play(sequence)) ends.add(status)
    })
    await fc.assert(property, { numRuns: 300 })
    t.strictSame([...ends].sort(), ['refused', 'returned', 'settled'])
  },
)
