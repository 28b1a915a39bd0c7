import t from 'tap'
import { deciders } from '../../packages/domain/index.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import { evolve, type AnyDecider } from '../../packages/kernel/decider.ts'
import { stored, upcast } from '../../packages/kernel/event-types.ts'
import { record, Type } from '../../packages/contract/vocabulary.ts'
import { lawOver } from '../support/law.ts'
import { readFormats } from '../support/event-store/stored-formats.ts'

t.test('every event of a decider is declared and can be applied', async (t) => {
  await lawOver(t, deciders, ({ category, events, evolve }) => {
    t.strictSame(
      Object.keys(events).sort(),
      Object.keys(evolve).sort(),
      `${category} declares what it applies`,
    )
  })
})

const stamp = { merchant: 'm', livemode: false, user: 'u', organization: 'o', at: '2026-01-01T12:00:00.000Z' }
/** The newest format of each type comes last. */
const examples = new Map(readFormats().map(({ type, data }) => [type, data]))

/** What folding these events, one after the other, throws. */
function thrownBy(decider: AnyDecider, types: readonly string[]): unknown {
  try {
    types.reduce<unknown>(
      (state, type) => evolve(decider, state, { type, data: structuredClone(examples.get(type)!) }, stamp),
      decider.initial(),
    )
    return undefined
  } catch (error) {
    return error
  }
}

t.test(
  'folding refuses nobody: a history that cannot be folded is a bug, and parks its stream',
  async (t) => {
    await lawOver(t, deciders, (decider) => {
      const types = Object.keys(decider.events)
      const histories = types.flatMap((first) => [[first], ...types.map((second) => [first, second])])
      const refused = histories.filter((history) => thrownBy(decider, history) instanceof Refusal)
      t.strictSame(refused, [], `${decider.category}: use \`begun\` in evolve, and \`existing\` in decide`)
    })
  },
)

t.test('the name of an event belongs to one kind of stream', async (t) => {
  const names = deciders.flatMap(({ events }) => Object.keys(events))
  t.equal(new Set(names).size, names.length)
})

t.test('the name of a category has no hyphen, which ends it in the name of a stream', async (t) => {
  await lawOver(t, deciders, ({ category }) => t.match(category, /^[a-z_]+$/))
})

t.test('data of an older version is brought up to the newest, step by step', async (t) => {
  const type = stored(3, record({ amount: Type.Integer(), currency: Type.String(), note: Type.String() }), {
    1: (old) => ({ ...old, currency: 'XOF' }),
    2: (old) => ({ ...old, note: '' }),
  })
  t.strictSame(upcast(type, 1, { amount: 1 }), { amount: 1, currency: 'XOF', note: '' })
  t.strictSame(upcast(type, 2, { amount: 1, currency: 'XAF' }), { amount: 1, currency: 'XAF', note: '' })
  t.strictSame(upcast(type, 3, { amount: 1, currency: 'XAF', note: 'n' }), {
    amount: 1,
    currency: 'XAF',
    note: 'n',
  })
})

t.test('a version without an upcast from the one before it cannot be declared', async (t) => {
  t.throws(() => stored(3, record({}), { 2: (old) => old }), /no upcast from version 1/)
})
