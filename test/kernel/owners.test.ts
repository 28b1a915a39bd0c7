import t from 'tap'
import { PostgresTimers } from '../../infra/postgres/timers.ts'
import type { AnyRoute, Dependencies } from '../../packages/contract/routes.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import { ownerOf, owns, type Owner, type OwnerKind } from '../../packages/kernel/owner.ts'
import { keyedId } from '../../services/api/kinds/idempotency.ts'
import { eventually } from '../support/eventually.ts'
import { askRow, envelopeFor, openFamilies } from '../support/families.ts'
import { lawOver } from '../support/law.ts'
import { notebookOf, notebookTimers } from '../support/load/notebook.ts'

const ownerKinds: readonly OwnerKind[] = ['merchant', 'organization', 'user', 'platform']
const notebooks = new Map(ownerKinds.map((kind) => [kind, notebookOf(kind)]))
const models = [...[...notebooks.values()].map(({ model }) => model), notebookTimers]

let dependencies: Dependencies
let timers: PostgresTimers

/** Every kind of owner, and who else there is of the same kind. */
let owners: readonly { readonly kind: OwnerKind; readonly own: Owner; readonly others: readonly Owner[] }[]

t.before(async () => {
  const deciders = [...notebooks.values()].map(({ decider }) => decider)
  const families = await openFamilies(t, { models, deciders })
  dependencies = families.dependencies
  timers = new PostgresTimers(families.pool)
  const { newId } = dependencies
  const [merchant, organization, user] = [newId(), newId(), newId()]
  owners = [
    {
      kind: 'merchant',
      own: { merchant, livemode: false },
      others: [
        { merchant, livemode: true },
        { merchant: newId(), livemode: false },
      ],
    },
    { kind: 'organization', own: { organization }, others: [{ organization: newId() }] },
    { kind: 'user', own: { user }, others: [{ user: newId() }] },
    { kind: 'platform', own: { platform: true }, others: [] },
  ]
})

async function write(kind: OwnerKind, owner: Owner, id: string, text = 'first'): Promise<number> {
  const command = { type: 'WritePage', data: { text } } as const
  const { decider } = notebooks.get(kind)!
  return (await dependencies.executor.send(decider, id, command, envelopeFor(owner))).position
}

const ask = (route: AnyRoute, owner: Owner, id = '') => askRow(route, { dependencies, owner, params: { id } })

const notFound = new Refusal('resource_must_exist')

t.test('a stream belongs to an owner of the kind that its family names', async (t) => {
  await lawOver(t, owners, async ({ kind }) => {
    await lawOver(
      t,
      owners.filter((one) => one.kind !== kind),
      async ({ kind: other, own }) => {
        const id = dependencies.newId()
        await t.rejects(
          write(kind, own, id),
          /no stream notebook_\w+ belongs to/,
          `${kind} written as ${other}`,
        )
      },
    )
  })
})

t.test('what belongs to one owner is written, shown and listed for this owner alone', async (t) => {
  await lawOver(t, owners, async ({ kind, own, others }) => {
    const id = dependencies.newId()
    await write(kind, own, id)
    await write(kind, own, id, 'second')
    const { rows } = notebooks.get(kind)!
    t.match(await ask(rows.show, own, id), { id, texts: ['first', 'second'] }, `${kind}: shown`)
    t.match(await ask(rows.history, own, id), { data: [{}, {}] }, `${kind}: history`)
    t.match(await ask(rows.list, own), { data: [{ id, texts: ['first', 'second'] }], total_count: 1 })
    // The platform is the only one of its kind.
    const strangers = others.map(async (other) => {
      await t.rejects(write(kind, other, id, 'third'), notFound, `${kind}: written by another`)
      await t.rejects(ask(rows.show, other, id), notFound, `${kind}: shown to another`)
      await t.rejects(ask(rows.history, other, id), notFound, `${kind}: history for another`)
      t.match(await ask(rows.list, other), { data: [], total_count: 0 }, `${kind}: listed for another`)
    })
    await Promise.all(strangers)
  })
})

t.test('a row of a read model says whose it is, and what becomes due, for whom', async (t) => {
  await lawOver(t, owners, async ({ kind, own }) => {
    const id = dependencies.newId()
    const position = await write(kind, own, id)
    t.ok(await dependencies.reads.reached(position, 10_000))
    const row = await dependencies.reads.document(`notebooks_${kind}`, id)
    t.strictSame(row && ownerOf(row), own, `${kind}: row`)
    const due = await eventually(
      () => timers.due(new Date('2028-01-01T00:00:00Z'), 100),
      (found) => found.some(({ subject }) => subject === id),
    )
    const timer = due.find(({ subject }) => subject === id)!
    t.strictSame(ownerOf(timer), own, `${kind}: timer`)
  })
})

t.test('an idempotency key belongs to one owner', async (t) => {
  const all = owners.flatMap(({ own, others }) => [own, ...others])
  const operation = 'POST /test'
  const ids = all.map((owner) => keyedId(owner, operation, 'key'))
  t.equal(new Set(ids).size, all.length)
  const { answers } = dependencies
  await lawOver(t, all.entries(), async ([index, owner]) => {
    const begun = await answers.begin({ ...owner, operation, key: 'key' }, `fingerprint ${index}`)
    t.match(begun, { state: 'begun', isResumed: false })
  })
})

t.test('owners are told apart, whatever else stands beside them', async (t) => {
  const all = owners.flatMap(({ own, others }) => [own, ...others])
  await lawOver(t, all, async (one) => {
    await lawOver(t, all, (other) => t.equal(owns({ ...one }, { ...other }), one === other))
  })
})
