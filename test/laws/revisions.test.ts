import t from 'tap'
import { statusOf } from '../../packages/contract/lists/query.ts'
import { exampleOf } from '../../packages/contract/openapi/examples.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import type { TSchema } from '../../packages/contract/vocabulary.ts'
import { routes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'
import { makeResource, sample } from '../support/samples.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import type { TestService } from '../support/service.ts'

// In a change, null clears a field and a field that is left out stays as it is.

type Body = Readonly<Record<string, unknown>>

let service: TestService

t.before(async () => {
  service = await startServiceWithGoogle(t)
})

const patches = routes.filter(({ operation }) => operation.startsWith('PATCH '))
const clearing = patches.filter((route) => clearableFields(route).length > 0)
const withMetadata = patches.filter(({ body }) => body && 'metadata' in fieldsOf(body))

function fieldsOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  return schema['properties'] as Readonly<Record<string, TSchema>>
}

function takesNull(schema: TSchema | undefined): boolean {
  return [schema?.['type']].flat().includes('null')
}

/** Fields that a request may send as null, and those that a resource may show as null. */
function clearableFields({ body, returns }: AnyRoute): readonly string[] {
  return Object.entries(fieldsOf(body!))
    .filter(([name, field]) => {
      return takesNull(field) || takesNull(fieldsOf(returns)[shownAs(name)]) || name === 'metadata'
    })
    .map(([name]) => name)
}

const patch = (path: string, body: Body) => service.call('PATCH', path, body)

/** A value for each of these fields that the resource of a sample does not have. */
async function otherValues(route: AnyRoute, names: readonly string[]): Promise<Body> {
  const example = exampleOf(route.body!, {
    description: 'Lasts a week',
    unit_amount: 4_500,
    currency: 'XAF',
    minimum_balance_currency: 'EUR',
    secondaryEmail: 'second@example.com',
    onboardingStep: 'webhook',
    nickname: 'Clé du bureau',
    metadata: { lot: '12' },
    ...(names.includes('default_price') && { default_price: await makeResource(service, 'plan') }),
    ...(names.includes('default_destination_id') && {
      default_destination_id: await makeResource(service, 'payout_destination'),
    }),
  }) as Body
  return picked(example, names)
}

/** Domain model 1.2: answers are in snake case, whatever requests are in. */
function shownAs(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function picked(body: Body, names: readonly string[]): Body {
  return Object.fromEntries(names.map((name) => [name, body[name in body ? name : shownAs(name)]]))
}

t.test('null clears a field, and nothing else', async (t) => {
  await lawOver(t, clearing, async (route) => {
    const names = clearableFields(route)
    const { path } = await sample(service, route)
    const fresh = (await service.get(path)).body
    const values = await otherValues(route, names)
    const filled = await patch(path, values)
    t.match([filled.status, picked(filled.body, names)], [200, values], route.operation)
    let shown = picked(filled.body, names)
    await lawOver(t, names, async (name) => {
      t.not(values[name] ?? null, null, `${route.operation}: otherValues above has a value for ${name}`)
      const cleared = await patch(path, { [name]: null })
      t.equal(cleared.status, 200, `${route.operation} ${name}`)
      shown = { ...shown, [name]: blank(route, name, fresh) }
      t.strictSame(picked(cleared.body, names), shown, `${route.operation} ${name}`)
      t.strictSame((await service.get(path)).body, cleared.body, `${route.operation} ${name} stays cleared`)
      const again = await patch(path, { [name]: null })
      t.strictSame(again.body, cleared.body, `${route.operation} ${name} is cleared twice`)
      t.equal(again.headers.get('etag'), cleared.headers.get('etag'), 'which changes nothing')
    })
  })
})

/** What a cleared field shows: what is never null shows again what it showed before anything was set. */
function blank({ returns }: AnyRoute, name: string, fresh: Body): unknown {
  if (name === 'metadata') return {}
  return takesNull(fieldsOf(returns)[shownAs(name)]) ? null : fresh[name]
}

t.test('null for what cannot be cleared is refused, and names the field', async (t) => {
  const unclearable = (route: AnyRoute) =>
    Object.keys(fieldsOf(route.body!)).filter((name) => !clearableFields(route).includes(name))
  const refusing = patches.filter((route) => unclearable(route).length > 0)
  await lawOver(t, refusing, async (route) => {
    const { path } = await sample(service, route)
    await lawOver(t, unclearable(route), async (name) => {
      const { status, body } = await patch(path, { [name]: null })
      t.strictSame([status, body['param']], [400, `/${name}`], route.operation)
    })
  })
})

/** Metadata of plans is a text of the merchant's own. */
const isMap = (schema: TSchema | undefined) => [schema?.['type']].flat().includes('object')

t.test('an empty value in metadata is none, also where something is created', async (t) => {
  const creating = routes.filter((route) => {
    const isCreation = route.operation.startsWith('POST ') && statusOf(route) === 201
    return isCreation && route.body && isMap(fieldsOf(route.body)['metadata'])
  })
  await lawOver(t, creating, async (route) => {
    const { path, body } = await sample(service, route)
    const metadata = { kept: '1', empty: '' }
    const made = await service.post(path, { ...body, metadata })
    t.match(made, { status: 201, body: { metadata: { kept: '1' } } }, route.operation)
    t.notOk('empty' in (made.body['metadata'] as Body), route.operation)
  })
})

t.test('keys of metadata are added, replaced and removed one by one', async (t) => {
  await lawOver(t, withMetadata, async (route) => {
    const { path } = await sample(service, route)
    const change = async (metadata: unknown) => (await patch(path, { metadata })).body['metadata']
    await change(null)
    await change({ a: '1', b: '2', c: '3', d: '4' })
    const left = { c: '3', d: '5', e: '6' }
    t.strictSame(await change({ a: null, b: '', d: '5', e: '6' }), left, route.operation)
    t.strictSame(await change({ a: null, constructor: null }), left, 'a key that is not there')
    t.strictSame((await service.get(path)).body['metadata'], left)
  })
})

t.test('metadata never has more than fifty keys, all of which may be exchanged at once', async (t) => {
  const keys = (prefix: string, value: string | null) =>
    Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${prefix}${index}`, value]))
  await lawOver(t, withMetadata, async (route) => {
    const { path } = await sample(service, route)
    await patch(path, { metadata: null })
    t.match(await patch(path, { metadata: keys('a', '1') }), { status: 200 }, route.operation)
    const refused = await patch(path, { metadata: { more: '1' } })
    t.match(refused, { status: 400, body: { param: '/metadata' } }, route.operation)
    const exchanged = await patch(path, { metadata: { ...keys('a', null), ...keys('b', '1') } })
    t.strictSame(exchanged.body['metadata'], keys('b', '1'), route.operation)
  })
})
