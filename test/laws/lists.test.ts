import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { credentialsOf, type CredentialKind } from '../../packages/contract/access/callers.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { routes } from '../../services/families.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { equal } from '../../packages/kernel/ports/reads.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { sample, unknownSample } from '../support/samples.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { newUser } from '../support/identities/sign-in.ts'
import { customersToken } from '../support/subscriber.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import type { TestService } from '../support/service.ts'

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly total_count?: number
}

let service: TestService
const lists = routes.filter(({ kind, operation }) => kind === 'list' && !operation.includes('{'))
/** Another time would move everything that waits. */
const still = routes.filter(({ operation }) => operation !== 'POST /api/test/clock')

/** Some of everything: what each operation makes, three times. */
t.before(async () => {
  service = await startServiceWithGoogle(t)
  for (const route of still.filter(({ operation }) => operation.startsWith('POST '))) {
    for (let count = 0; count < 3; count++) {
      const { path, body, key } = await sample(service, route)
      await service.post(path, body, { ...(key && { key }) })
    }
  }
  // What operators say soon would make new items while the lists are walked; prompts last five minutes.
  await eventually(underWay, (count) => count === 0)
})

async function underWay(): Promise<number> {
  const { rows } = await service.service.runtime.postgres.pool.query<{ count: number }>(`
    select (select count(*) from sandbox_operations where callbacks_owed > 0 or due_at < now() + interval '1 minute')
      + (select count(*) from checkpoints where position < (select max(position) from events)) as count`)
  return rows[0]!.count
}

const pathOf = (route: AnyRoute) => partsOf(route).path

async function page(route: AnyRoute, query: string): Promise<Page> {
  const { status, body } = await service.get<Page>(`${pathOf(route)}?${query}`)
  if (status !== 200) throw new Error(`${route.operation} ?${query}: ${JSON.stringify(body)}`)
  return body
}

const idsOf = ({ data }: Page) => data.map(({ id }) => id)

/** The items of all pages. */
async function walked(route: AnyRoute, query: string): Promise<readonly { readonly id: string }[]> {
  const items: { readonly id: string }[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const from = cursor === undefined ? '' : `&cursor=${cursor}`
    const { data, next_cursor } = await page(route, `limit=100&${query}${from}`)
    items.push(...data)
    cursor = next_cursor
  }
  return items
}

async function everything(route: AnyRoute): Promise<readonly string[]> {
  const items = await eventually(
    () => walked(route, ''),
    ({ length }) => length >= 3,
  )
  return items.map(({ id }) => id)
}

t.test('a list can be walked from any of its items, in both directions', async (t) => {
  await lawOver(t, lists, async (route) => {
    const all = await everything(route)
    const inPairs: string[] = []
    let next: Page | undefined
    while (!next || next.next_cursor !== null) {
      next = await page(route, `limit=2${next ? `&cursor=${next.next_cursor}` : ''}`)
      t.equal(next.has_more, next.next_cursor !== null, `${route.operation} has a cursor where there is more`)
      inPairs.push(...idsOf(next))
    }
    t.strictSame(inPairs, all, `${route.operation} by cursor`)
    t.strictSame(
      idsOf(await page(route, `limit=2&starting_after=${all[0]}`)),
      all.slice(1, 3),
      route.operation,
    )
    const before = await page(route, `limit=1&ending_before=${all[2]}`)
    t.strictSame([idsOf(before), before.has_more], [[all[1]], true], `${route.operation} backwards`)
    t.strictSame(idsOf(await page(route, `limit=1&cursor=${before.next_cursor}`)), [all[2]], route.operation)
    const first = await page(route, `limit=2&ending_before=${all[0]}`)
    t.strictSame([first.data, first.has_more], [[], true], `${route.operation}: nothing is newer`)
    t.strictSame(idsOf(await page(route, `limit=1&cursor=${first.next_cursor}`)), [all[0]], route.operation)
  })
})

t.test('a page begins in one way', async (t) => {
  await lawOver(t, lists, async (route) => {
    const [first = '', second = ''] = await everything(route)
    const { next_cursor: cursor } = await page(route, 'limit=1')
    const ways = [`cursor=${cursor}`, `starting_after=${first}`, `ending_before=${second}`]
    if (route.paging === 'page') ways.push('page=1')
    const pairs = ways.flatMap((one, index) => ways.slice(index + 1).map((other) => `${one}&${other}`))
    await lawOver(t, pairs, async (pair) => {
      const answer = await service.get(`${pathOf(route)}?${pair}`)
      t.match(answer, { status: 400, body: { code: 'IKW-REQ-001' } }, `${route.operation} ?${pair}`)
    })
  })
})

t.test('a cursor is good for its own list and its own merchant only', async (t) => {
  const stranger = await otherMerchantsKey(service)
  const ofOthers: Readonly<Partial<Record<CredentialKind, readonly string[]>>> = {
    user: [(await newUser(service)).token],
    customer_portal: [await customersToken(service)],
  }
  const cursors = new Map<AnyRoute, string>()
  for (const route of lists) {
    await everything(route)
    cursors.set(route, (await page(route, 'limit=1')).next_cursor!)
  }
  await lawOver(t, cursors, async ([from, cursor]) => {
    const others = lists.filter((one) => one !== from)
    await lawOver(t, others, async (route) => {
      const { status } = await service.get(`${pathOf(route)}?cursor=${cursor}`)
      t.equal(status, 400, `${from.operation} ${route.operation}`)
    })
    const strangers = ofOthers[credentialsOf(from)[0]!] ?? [stranger, service.liveKey]
    await lawOver(t, strangers, async (key) =>
      t.equal((await service.get(`${pathOf(from)}?cursor=${cursor}`, { key })).status, 400, from.operation),
    )
    for (const made of [
      cursor.slice(1),
      `${cursor}A`,
      cursor.toLowerCase(),
      Buffer.from('1:5').toString('base64url'),
    ])
      t.equal((await service.get(`${pathOf(from)}?cursor=${made}`)).status, 400, `${from.operation} ${made}`)
  })
})

t.test('every answer says what it shows at least, in words that only the service reads', async (t) => {
  const position = /^[A-Za-z0-9_-]{22}$/
  // Who has signed out cannot ask again.
  const asked = ({ scope, operation }: AnyRoute) => scope !== 'public' && !operation.endsWith('/logout')
  const guarded = still.filter(asked)
  await lawOver(t, guarded, async (route) => {
    const { method } = partsOf(route)
    const { path, body, key } = await sample(service, route)
    const options = { ...(key && { key }), headers: { 'idempotency-key': randomUUID() } }
    const answers = [await service.call(method, path, body, options)]
    // The same again: from what was kept, or from what was there already.
    answers.push(await service.call(method, path, body, options))
    for (const { status, headers } of answers) {
      t.ok(status < 300, `${route.operation} answers ${status}`)
      t.match(headers.get('ledger-position'), position, route.operation)
    }
    const least = { headers: { 'min-position': answers[1]!.headers.get('ledger-position')! } }
    t.equal(
      (await service.get('/api/v1/payment-intents', least)).status,
      200,
      `${route.operation} can be waited for`,
    )
  })
  const refused = await service.get('/api/v1/payment-intents', { headers: { 'min-position': '12' } })
  t.match(refused, { status: 400, body: { param: 'header:Min-Position' } })
})

t.test('one key for twins is one effect', async (t) => {
  const twins = routes.filter(({ twinOf }) => twinOf)
  const twinOf = (route: AnyRoute) => routes.find(({ operation }) => operation === route.twinOf)!
  const [alike, others] = [true, false].map((isSame) =>
    twins.filter((route) => (route.body === twinOf(route).body) === isSame),
  ) as [AnyRoute[], AnyRoute[]]
  await lawOver(t, others, async (route) => {
    const options = { headers: { 'idempotency-key': randomUUID() } }
    const [one, other] = [await sample(service, route), await sample(service, twinOf(route))]
    t.equal((await service.post(one.path, one.body, options)).status, 201, route.operation)
    const refused = await service.post(other.path, other.body, options)
    t.match(refused, { status: 409, body: { code: 'IKW-REQ-003' } }, `${route.operation}: another body`)
  })
  await lawOver(t, alike, async (route) => {
    const { path, body } = unknownSample(route)
    const options = { headers: { 'idempotency-key': randomUUID() } }
    const first = await service.post(path, body, options)
    const again = await service.post(route.twinOf!.split(' ')[1]!, body, options)
    t.match(first, { status: 201 }, route.operation)
    t.strictSame([again.status, again.body], [first.status, first.body], route.operation)
  })
})

t.test('the feed goes on from its cursor, oldest first, and by whichever name', async (t) => {
  const feed = async (query: string) => (await service.get<Page>(`/api/v1/events?${query}`)).body
  const all = idsOf(await feed('limit=10'))
  const { next_cursor: cursor } = await feed('limit=3')
  t.strictSame(idsOf(await feed(`limit=3&cursor=${cursor}`)), all.slice(3, 6))
  t.strictSame(idsOf(await feed(`limit=3&after=${cursor}`)), all.slice(3, 6))
  const both = await service.get(`/api/v1/events?after=${cursor}&cursor=${cursor}`)
  t.match(both, { status: 400, body: { code: 'IKW-REQ-001', param: 'query:/cursor' } })
})

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return isDeepStrictEqual(some.toSorted(), others.toSorted())
}

t.test('a filter takes one value or several, and shows what has one of them', async (t) => {
  const filters = lists.flatMap((route) =>
    Object.entries(route.filter ?? {}).flatMap(([name, { enum: values }]) =>
      Array.isArray(values) ? [{ route, name, values: values as readonly string[] }] : [],
    ),
  )
  await lawOver(t, filters, async ({ route, name, values }) => {
    const having = async (chosen: readonly string[]) =>
      (await walked(route, `${name}=${chosen.join(',')}`)).map(({ id }) => id)
    // An item may move from one value to the next between two pages: then they are asked for again.
    const whole = await eventually(
      async () => ({
        singles: await Promise.all(values.map((value) => having([value]))),
        all: await everything(route),
      }),
      ({ singles, all }) => isSame(singles.flat(), all),
    )
    t.ok(whole, `${route.operation} ${name}`)
    const chosen = values.filter((_, index) => whole.singles[index]!.length > 0).slice(0, 2)
    const both = async () => ({
      both: await having(chosen),
      singles: await Promise.all(chosen.map((value) => having([value]))),
    })
    t.ok(
      await eventually(both, (seen) => isSame(seen.both, seen.singles.flat())),
      `${route.operation} ${name}`,
    )
    for (const wrong of ['', `${values[0]},`, `${values[0]},nothing`, Array(21).fill(values[0]).join(',')]) {
      const answer = await service.get(`${pathOf(route)}?${name}=${wrong}`)
      t.match(
        answer,
        { status: 400, body: { param: `query:/${name}` } },
        `${route.operation} ${name}=${wrong}`,
      )
    }
  })
})

t.test('a range is bounded on either side, with its bound or without', async (t) => {
  const ranges = lists.flatMap((route) => Object.keys(route.ranges ?? {}).map((name) => ({ route, name })))
  await lawOver(t, ranges, async ({ route, name }) => {
    const values = await valuesOf(route, name)
    const bound = values.toSorted((one, other) => (one < other ? -1 : 1))[Math.floor(values.length / 2)]!
    const holds = {
      gt: (value: number | string) => value > bound,
      gte: (value: number | string) => value >= bound,
      lt: (value: number | string) => value < bound,
      lte: (value: number | string) => value <= bound,
    }
    for (const [side, isIn] of Object.entries(holds)) {
      const expected = values.filter(isIn).length
      const items = await walked(route, `${name}[${side}]=${encodeURIComponent(bound)}`)
      t.equal(items.length, expected, `${route.operation} ${name}[${side}]=${bound}`)
    }
    const none = await page(
      route,
      `${name}[gt]=${encodeURIComponent(bound)}&${name}[lte]=${encodeURIComponent(bound)}`,
    )
    t.strictSame(none.data, [], `${route.operation} ${name}: both at once`)
    const wrong = await service.get(`${pathOf(route)}?${name}[gte]=many`)
    t.match(wrong, { status: 400, body: { param: `query:/${name}[gte]` } }, route.operation)
  })
})

/** Of every item of a list, newest first, from the read model's own column. */
async function valuesOf({ from }: AnyRoute, column: string): Promise<readonly (number | string)[]> {
  const { merchant_id: merchant } = service.service.credentials
  const where = equal({ merchant, livemode: false, ...(from!.kind === 'documents' && { shown: true }) })
  const query = { from: from!.name, where, order: from!.kind === 'documents' ? 'created' : 'position' }
  const values: (number | string)[] = []
  const { reads } = service.service.runtime.dependencies
  const limit = 100
  for (let seen = limit; seen === limit;) {
    const { rows } = await reads.page<Record<string, number | string>>({
      ...query,
      limit,
      offset: values.length,
    })
    values.push(...rows.map((row) => row[column]!))
    seen = rows.length
  }
  return values
}
