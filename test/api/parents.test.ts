import t from 'tap'
import { Refusal } from '../../packages/contract/refusals.ts'
import type { AnyRoute, Dependencies } from '../../packages/contract/routes.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import { askRow, envelopeFor, openFamilies } from '../support/families.ts'
import { lawOver } from '../support/law.ts'
import { shelf, shelfBook, shelfBooks, shelfRows, shelves } from '../support/commerce/shelves.ts'

let dependencies: Dependencies
let owner: MerchantOwner
let others: readonly MerchantOwner[]

t.before(async () => {
  const models = [shelves, shelfBooks]
  dependencies = (await openFamilies(t, { models, deciders: [shelf, shelfBook] })).dependencies
  const { newId } = dependencies
  owner = { merchant: newId(), livemode: false }
  others = [
    { ...owner, livemode: true },
    { merchant: newId(), livemode: false },
  ]
})

const notFound = new Refusal('resource_must_exist')

async function putUp(whose: MerchantOwner): Promise<string> {
  const id = dependencies.newId()
  await dependencies.executor.send(shelf, id, { type: 'PutUp', data: {} }, envelopeFor(whose))
  return id
}

async function add(shelfId: string, title: string): Promise<string> {
  const call = { dependencies, owner, params: { shelfId }, body: { title } }
  return ((await askRow(shelfRows.create, call)) as { readonly id: string }).id
}

/** Each row as it is asked for a child, with the parent that its path names. */
function ask(
  route: AnyRoute,
  whose: MerchantOwner,
  params: { readonly shelfId: string; readonly id: string },
) {
  const body = route.body && { title: 'Renamed' }
  return askRow(route, { dependencies, owner: whose, params, ...(body && { body }) })
}

t.test('what is within a parent is found there', async (t) => {
  const [shelfId, otherShelf] = [await putUp(owner), await putUp(owner)]
  const id = await add(shelfId, 'Things Fall Apart')
  await add(otherShelf, 'So Long a Letter')
  const params = { shelfId, id }
  t.match(await ask(shelfRows.show, owner, params), { id, shelf: shelfId, title: 'Things Fall Apart' })
  t.match(await ask(shelfRows.list, owner, params), { data: [{ id }], total_count: 1 })
  t.match(await ask(shelfRows.change, owner, params), { title: 'Renamed' })
  t.match(await ask(shelfRows.history, owner, params), { data: [{}, {}] })
})

t.test('nothing is shown, listed, changed or made within a parent that is none of it', async (t) => {
  const [shelfId, otherShelf, removed] = [await putUp(owner), await putUp(owner), await putUp(owner)]
  const id = await add(shelfId, 'Segu')
  const inRemoved = await add(removed, 'Xala')
  await dependencies.executor.send(shelf, removed, { type: 'Remove', data: {} }, envelopeFor(owner))
  const foreign = await Promise.all(others.map(putUp))
  const head = await dependencies.store.head()
  const wrong = [dependencies.newId(), id, ...foreign]
  await lawOver(t, Object.entries(shelfRows), async ([name, route]) => {
    await lawOver(t, wrong, (parent) =>
      t.rejects(ask(route, owner, { shelfId: parent, id }), notFound, `${name} in ${parent}`),
    )
    await lawOver(t, others, (other) =>
      t.rejects(ask(route, other, { shelfId, id }), notFound, `${name} by a stranger`),
    )
    await t.rejects(
      ask(route, owner, { shelfId: removed, id: inRemoved }),
      notFound,
      `${name} in what is gone`,
    )
  })
  await lawOver(t, [shelfRows.show, shelfRows.history, shelfRows.change], (route) =>
    t.rejects(
      ask(route, owner, { shelfId: otherShelf, id }),
      notFound,
      `${route.operation}: another's child`,
    ),
  )
  t.equal(await dependencies.store.head(), head, 'and nothing was written')
})

t.test('what a change prepares is not even begun for what is not as the client saw it', async (t) => {
  const shelfId = await putUp(owner)
  const id = await add(shelfId, 'Kindred')
  let prepared = 0
  const route = {
    ...shelfRows.change,
    prepare: () => Promise.resolve({ title: `Renamed ${++prepared}` }),
  } as AnyRoute
  const call = { dependencies, owner, params: { shelfId, id }, body: { title: '' } }
  await t.rejects(askRow(route, { ...call, ifRevision: 7 }), new Refusal('resource_must_be_as_it_was_seen'))
  await t.rejects(askRow(route, { ...call, params: { shelfId, id: shelfId } }), notFound)
  t.equal(prepared, 0)
  t.match(await askRow(route, { ...call, ifRevision: 0 }), { title: 'Renamed 1' })
})
