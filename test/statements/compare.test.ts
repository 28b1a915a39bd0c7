import { randomUUID } from 'node:crypto'
import t from 'tap'
import { isAgreed, type AgreedFees } from '../../packages/domain/statements/agreed-fees.ts'
import { agreedFees } from '../../services/cli/ledger/agreed-fees.ts'
import { compare, driftOf, summaryOf } from '../../packages/domain/statements/compare.ts'
import type { FindingKind, OwnMovement, StatementLine } from '../../packages/domain/statements/statement.ts'
import { fc } from '../support/properties.ts'

const dayOf = (time: string) => time.slice(0, 10)
const dayMs = 86_400_000
const noon = Date.parse('2026-03-10T12:00:00.000Z')

/** What an operator may get wrong about one movement, or nothing. */
const mistakes = ['none', 'amount', 'fee', 'day', 'double', 'dropped', 'unnamed', 'before'] as const
type Mistake = (typeof mistakes)[number]

const movement = fc.record({
  amount: fc.constantFrom(100, 500, -500, 1_000, -2_000),
  minute: fc.integer({ min: 0, max: 600 }),
  mistake: fc.constantFrom(...mistakes),
})
/** What the operator takes by its contract. */
const contracts = fc.constantFrom<AgreedFees | undefined>(undefined, {
  in: { share: 15_000, fixed: 3 },
  out: { share: 0, fixed: 25 },
})
const histories = fc.record({
  fees: contracts,
  movements: fc.array(movement, { maxLength: 40 }),
  strangers: fc.array(fc.integer({ min: 1, max: 9_999 }), { maxLength: 5 }),
})

const wanted: Readonly<Record<Mistake, readonly FindingKind[]>> = {
  none: ['matched'],
  amount: ['differs_in_amount'],
  fee: ['differs_in_fee'],
  day: ['differs_in_day'],
  double: ['matched', 'double'],
  dropped: ['only_here'],
  unnamed: ['matched'],
  before: ['double', 'settled_before'],
}

interface Made {
  readonly own: OwnMovement
  readonly lines: readonly Omit<StatementLine, 'number'>[]
  readonly mistake: Mistake
}

interface Making {
  readonly amount: number
  readonly minute: number
  readonly mistake: Mistake
  readonly fees?: AgreedFees | undefined
}

/** Counted in floats, which are exact for amounts as small as these. */
function feeOf(amount: number, fees: AgreedFees | undefined): number {
  const { share, fixed } = fees?.[amount < 0 ? 'out' : 'in'] ?? { share: 0, fixed: 0 }
  return Math.round((Math.abs(amount) * share) / 1_000_000) + fixed
}

function made({ amount, minute, mistake, fees }: Making): Made {
  const effectiveAt = new Date(noon + minute * 60_000 - 300 * 60_000).toISOString()
  const reference = randomUUID()
  const entry = { entryId: randomUUID(), book: 'm.live.XOF', position: 1, isWithin: true }
  const fee = feeOf(amount, fees)
  const line = { reference, amount, fee, at: effectiveAt }
  const lines: Readonly<Record<Mistake, readonly Omit<StatementLine, 'number'>[]>> = {
    none: [line],
    amount: [{ ...line, amount: amount + Math.sign(amount) * 7 }],
    fee: [{ ...line, fee: fee + 25 }],
    day: [{ ...line, at: new Date(Date.parse(effectiveAt) + dayMs).toISOString() }],
    double: [line, line],
    dropped: [],
    unnamed: [{ ...line, reference: '' }],
    before: [line],
  }
  return { own: { ...entry, reference, amount, effectiveAt }, lines: lines[mistake], mistake }
}

t.test('every mistake of an operator is found, and none is invented', async () => {
  const property = fc.property(histories, ({ movements, strangers, fees }) => {
    const all = movements.map((one) => made({ ...one, fees }))
    const unknown = strangers.map((amount) => {
      return { reference: randomUUID(), amount, fee: 0, at: new Date(noon).toISOString() }
    })
    const lines = [...all.flatMap((one) => one.lines), ...unknown].map((line, index) => ({
      ...line,
      number: index + 1,
    }))
    const own = all.map((one) => one.own)
    const settledBefore = new Set(
      all.filter(({ mistake }) => mistake === 'before').map((one) => one.own.entryId),
    )
    const findings = compare({ lines, own, settledBefore, dayOf, fees })

    const { counts, explained } = summaryOf(findings)
    const expected = new Map<string, number>()
    const expect = (kind: FindingKind) => expected.set(kind, (expected.get(kind) ?? 0) + 1)
    for (const { mistake } of all) wanted[mistake].forEach(expect)
    for (const _ of unknown) expect('only_there')
    for (const [kind, count] of Object.entries(counts)) {
      if (count !== (expected.get(kind) ?? 0)) throw new Error(`${kind}: ${count}, not ${expected.get(kind)}`)
    }
    const theirs = lines.reduce((sum, { amount, fee }) => sum + amount - fee, 0)
    const ours = own.reduce((sum, { amount }) => sum + amount, 0)
    const drift = findings.reduce((sum, finding) => sum + driftOf(finding), 0)
    if (drift !== theirs - ours) throw new Error(`${drift} is not the drift of ${theirs - ours}`)
    if (Object.values(explained).reduce((sum, part) => sum + part, 0) !== drift)
      throw new Error('kinds add up')
    const told = findings.filter(({ line }) => line !== null).map(({ line }) => line!.number)
    if (new Set(told).size !== lines.length || told.length !== lines.length)
      throw new Error('each line is told once')
  })
  fc.assert(property, { numRuns: 3_000 })
})

t.test('a fee is as agreed however it is rounded, and never by a whole unit more or less', (t) => {
  const fees: AgreedFees = { in: { share: 15_000, fixed: 0 }, out: { share: 0, fixed: 25 } }
  const agreed = (amount: number) => [...Array(40).keys()].filter((fee) => isAgreed({ amount, fee }, fees))
  t.same(agreed(1_001), [15, 16])
  t.same(agreed(1_000), [15])
  t.same(agreed(-1_000), [25])
  t.ok(isAgreed({ amount: Number.MAX_SAFE_INTEGER, fee: 135_107_988_821_115 }, fees))
  t.notOk(isAgreed({ amount: Number.MAX_SAFE_INTEGER, fee: 135_107_988_821_117 }, fees))
  t.end()
})

t.test('fees are written as contracts write them', (t) => {
  const nothing = { share: 0, fixed: 0 }
  t.same(agreedFees('in=1.5%,out=0.5%+25', 0), {
    in: { share: 15_000, fixed: 0 },
    out: { share: 5_000, fixed: 25 },
  })
  t.same(agreedFees('out=0.10', 2), { in: nothing, out: { share: 0, fixed: 10 } })
  for (const nonsense of ['', '1%', 'in=x', 'in=1%,in=2%', 'in=1.23456%', 'out=0.5', 'in=-1', 'in=1%+2%'])
    t.throws(() => agreedFees(nonsense, 0), { message: /fees|decimals/ }, nonsense)
  t.end()
})

t.test('money in and money back under one reference are two movements', (t) => {
  const { own, lines } = made({ amount: -500, minute: 0, mistake: 'none' })
  const back = { ...own, entryId: randomUUID(), amount: 500 }
  const line = { ...lines[0]!, number: 1 }
  const findings = compare({
    lines: [line, { ...line, number: 2, amount: 500 }],
    own: [own, back],
    settledBefore: new Set(),
    dayOf,
  })
  t.same(
    findings.map(({ kind, own: found }) => [kind, found?.amount]),
    [
      ['matched', -500],
      ['matched', 500],
    ],
  )
  t.end()
})

t.test('ours on another day than the statement explains its line, and is missed by nobody', (t) => {
  const { own, lines } = made({ amount: 500, minute: 0, mistake: 'none' })
  const outside = { ...own, isWithin: false }
  const comparing = { settledBefore: new Set<string>(), dayOf }
  t.same(compare({ ...comparing, lines: [], own: [outside] }), [])
  const [finding] = compare({ ...comparing, lines: [{ ...lines[0]!, number: 1 }], own: [outside] })
  t.equal(driftOf(finding!), 500)
  t.end()
})

t.test('a reference that is none of ours is as if it was not there', (t) => {
  const { own, lines } = made({ amount: 500, minute: 0, mistake: 'none' })
  const reference = randomUUID()
  const comparing = { lines: [{ ...lines[0]!, number: 1, reference }], own: [own], dayOf }
  const kindsWith = (foreign: ReadonlySet<string>) =>
    compare({ ...comparing, settledBefore: new Set(), foreign }).map(({ kind }) => kind)
  t.strictSame(kindsWith(new Set([reference])), ['matched'])
  t.strictSame(kindsWith(new Set()), ['only_there', 'only_here'], 'one of ours is no other one of ours')
  t.end()
})

t.test('many lines of one amount without references are paired in the order of time', (t) => {
  const count = 20_000
  const all = Array.from({ length: count }, (_, index) =>
    made({ amount: 500, minute: index / 40, mistake: 'unnamed' }),
  )
  const lines = all.flatMap((one) => one.lines).map((line, index) => ({ ...line, number: index + 1 }))
  const { counts } = summaryOf(
    compare({ lines: lines.toReversed(), own: all.map((one) => one.own), settledBefore: new Set(), dayOf }),
  )
  t.match(counts, { matched: count, only_here: 0, only_there: 0 })
  t.end()
})
