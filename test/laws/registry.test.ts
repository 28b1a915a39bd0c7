import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { deciders, families, idPrefixes, scopes, webhookTypes } from '../../packages/domain/index.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { readModels } from '../../projections/index.ts'
import { scopesOfRole } from '../../packages/contract/access/roles.ts'
import { processes, routes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'
import { compiled, root } from '../support/root.ts'

// A family is registered in three places: the domain, the read models, the services. What follows from these
// needs no place of its own; what was forgotten in one is named here.

const domain = 'packages/domain'
const folders = readdirSync(join(root, domain), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

interface Exported {
  readonly file: string
  readonly name: string
  readonly value: unknown
}

/** Everything that the files of a folder export. */
async function exportsOf(folder: string): Promise<readonly Exported[]> {
  // `serve.ts` starts its service when it is imported.
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && file !== 'serve.ts',
  )
  const all = files.map(async (file) => {
    const path = join(compiled, folder, file.replace(/\.ts$/, '.js'))
    const found = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
    return Object.entries(found).map(([name, value]) => ({ file: `${folder}/${file}`, name, value }))
  })
  return (await Promise.all(all)).flat()
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

const isDecider = (value: unknown) => isRecord(value) && 'decide' in value && 'evolve' in value
const isReadModel = (value: unknown) =>
  isRecord(value) && ['documents', 'projection'].includes(String(value['kind']))
const isRows = (value: unknown): value is readonly AnyRoute[] =>
  Array.isArray(value) && value.length > 0 && value.every((row) => isRecord(row) && 'operation' in row)
const isPolicy = (value: unknown) =>
  isRecord(value) && typeof value['name'] === 'string' && isRecord(value['on'])
const partsOfProcess = ['reactions', 'timers', 'callbacks']
const isProcess = ({ value }: Exported) =>
  isRecord(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((part) => partsOfProcess.includes(part))

t.test('every family of the domain is in the list', async (t) => {
  const listed = families.map(({ name }) => name)
  await lawOver(t, folders, (folder) =>
    t.ok(listed.includes(folder), `add the family of ${domain}/${folder}/index.ts to ${domain}/index.ts`),
  )
  t.strictSame(listed.toSorted(), folders.toSorted())
})

t.test('every kind of stream is one of its family', async (t) => {
  const found = (await Promise.all(folders.map((folder) => exportsOf(`${domain}/${folder}`)))).flat()
  const kinds = found.filter(({ value }) => isDecider(value))
  await lawOver(t, kinds, ({ file, name, value }) =>
    t.ok(deciders.includes(value as never), `add ${name} of ${file} to the streams of its family`),
  )
  t.equal(new Set(deciders.map(({ category }) => category)).size, deciders.length, 'each has its category')
})

t.test('every policy and every timer of the domain is one of its family', async (t) => {
  const found = (await Promise.all(folders.map((folder) => exportsOf(`${domain}/${folder}`)))).flat()
  const policies = found.flatMap(({ value, ...place }) =>
    [value]
      .flat()
      .filter(isPolicy)
      .map((policy) => ({ policy, ...place })),
  )
  const listed: readonly unknown[] = families.flatMap((family) => family.policies ?? [])
  await lawOver(t, policies, ({ policy, file, name }) =>
    t.ok(listed.includes(policy), `add ${name} of ${file} to the policies of its family`),
  )
  const timers = found.filter(({ name, value }) => /Timers$/.test(name) && isRecord(value))
  await lawOver(t, timers, ({ file, name, value }) =>
    t.ok(
      families.some((family) => family.timers === value),
      `add ${name} of ${file} to its family`,
    ),
  )
})

t.test('every read model is in the list', async (t) => {
  const found = (await exportsOf('projections')).filter(({ value }) => isReadModel(value))
  await lawOver(t, found, ({ file, name, value }) =>
    t.ok(readModels.includes(value as never), `add ${name} of ${file} to projections/index.ts`),
  )
})

t.test('every endpoint is in the table', async (t) => {
  const folder = 'services/api/routes'
  const found = (await exportsOf(folder)).flatMap(({ value, ...place }) =>
    isRows(value) ? value.map((row) => ({ row, ...place })) : [],
  )
  await lawOver(t, found, ({ row, file, name }) =>
    t.ok(routes.includes(row), `add ${name} of ${file} to services/families.ts`),
  )
  await lawOver(t, routes, ({ operation, section }) => t.ok(section, `${operation} stands in a section`))
})

t.test('every process is in the list', async (t) => {
  const found = (await exportsOf('services/processes')).filter(isProcess)
  await lawOver(t, found, ({ file, name, value }) =>
    t.ok(processes.includes(value as never), `add ${name} of ${file} to services/families.ts`),
  )
})

t.test('every scope is one that a role has', async (t) => {
  const owners = scopesOfRole('owner')
  await lawOver(t, scopes, (scope) =>
    t.ok(owners.includes(scope), `packages/contract/access/roles.ts says which roles have ${scope}`),
  )
})

const isKind = (kind: string) =>
  kind === 'text' || kind in idPrefixes || deciders.some(({ category }) => category === kind)

t.test('what a row uses is registered', async (t) => {
  await lawOver(t, routes, ({ operation, scope, params = {}, decider, creates, from }) => {
    t.ok(
      scope === 'public' || scope === 'own' || scopes.includes(scope),
      `${operation}: a family declares the scope ${scope}`,
    )
    const named = [...operation.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    t.strictSame(
      Object.keys(params).toSorted(),
      named.toSorted(),
      `${operation}: params says what each names`,
    )
    for (const one of [decider, creates?.decider])
      t.ok(!one || deciders.includes(one), `${operation}: a family lists the stream ${one?.category}`)
    t.ok(!from || readModels.includes(from), `${operation}: projections/index.ts lists ${from?.name}`)
  })
  const kinds = routes.flatMap(({ operation, params = {} }) =>
    Object.values(params)
      .flat()
      .map((kind) => ({ operation, kind })),
  )
  await lawOver(t, kinds, ({ operation, kind }) =>
    t.ok(isKind(kind), `${operation}: a family declares the ids of a ${kind}, or streams named so`),
  )
})

t.test('a public id has a prefix that its family declares', async (t) => {
  const prefixes = Object.values(idPrefixes)
  t.equal(new Set(prefixes).size, prefixes.length, 'no prefix is that of two')
  const sources = ['packages', 'services', 'projections', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  )
  const calls = [
    /\b(?:publicId|PublicId)\('\w+'/g,
    /\bbase\('\w+', '\w+'/g,
    /\bidentity\([^'\n]+(?:'\w+'\][^'\n]*)?(?:, '\w+')+\)/g,
  ]
  const used = sources.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return calls.flatMap((pattern) => [...text.matchAll(pattern)]).map(([call]) => ({ file, call }))
  })
  await lawOver(t, used, ({ file, call }) => {
    const prefix = call.split("'").at(-2)!
    t.ok(prefixes.includes(prefix), `${file} says ${call}: a family declares ${prefix} in its ids`)
  })
})

t.test('a public event tells of a resource, and every type says what it means', async (t) => {
  await lawOver(t, Object.entries(webhookTypes), ([type, meaning]) => {
    t.match(type, /^[a-z_]+\.[a-z_]+$/)
    t.match(meaning, /^[A-Z].*\.$/, type)
  })
  const types = families.flatMap((family) =>
    (family.publicEvents ?? []).flatMap((source) => Object.keys(source.types)),
  )
  t.equal(new Set(types).size, types.length, 'no type is told by two')
})

/** The kind of stream that a row is about, where it is about one. */
function deciderOf({ decider, creates, from }: AnyRoute) {
  return decider ?? creates?.decider ?? (from?.kind === 'documents' ? from.decider : undefined)
}

t.test('a row is about streams of the owner for whom its callers act', async (t) => {
  const rows = routes.filter((route) => deciderOf(route))
  await lawOver(t, rows, (route) => {
    const { category, owners = ['merchant'] } = deciderOf(route)!
    const { operation, owner = 'merchant' } = route
    t.ok(
      owners.includes(owner),
      `${operation}: a ${category} belongs to ${owners.join(' or ')}, not ${owner}`,
    )
  })
})

/** Kinds of streams without a `history` row, and why. */
const untold: Readonly<Record<string, string>> = {
  challenge: 'over within minutes',
  portal_session: 'over within minutes',
  wallet_topup: 'over within minutes',
  organization: 'never changes',
  user: 'GET /api/v1/auth/history',
  user_session: 'GET /api/v1/auth/history',
  sign_in: 'GET /api/v1/auth/history',
  ledger: 'GET /api/v1/balance-transactions',
  usage_meter: 'that of its records',
  wallet_application: 'that of its invoice',
  transfer: 'moves money between two books, each of which shows it',
  case: 'for our staff: ikw cases show',
  intervention: 'for our staff: ikw events show',
  period: 'for our staff: ikw period',
  statement: 'for our staff: ikw reconcile',
  claim: 'our own note',
  index_key: 'our own note',
  invoice_numbers: 'our own note',
  log_key: 'our own note',
  token_key: 'our own note',
  webhook_roster: 'our own note',
}

t.test('every kind of stream has a history', async (t) => {
  const told = new Set(routes.filter(({ kind }) => kind === 'history').map((row) => deciderOf(row)))
  await lawOver(t, deciders, (one) => {
    const why = untold[one.category]
    t.not(
      told.has(one),
      why !== undefined,
      `${one.category} has a \`history\` row, or test/laws/registry.test.ts says why not (${why})`,
    )
  })
  await lawOver(t, Object.keys(untold), (category) =>
    t.ok(
      deciders.some((one) => one.category === category),
      `${category} is a kind of stream`,
    ),
  )
})

/** All that is written for one family only: its files, and what other files say of it. */
function linesOf(family: string, one: string): number {
  const own = ['index.ts', `${one}.ts`, 'resource.ts', 'examples.ts'].map(
    (name) => `${domain}/${family}/${name}`,
  )
  const files = [...own, `projections/${family}.ts`, `services/api/routes/${family}.ts`]
  const registers = [`${domain}/index.ts`, 'projections/index.ts', 'services/families.ts']
  const linesIn = (file: string) => readFileSync(join(root, file), 'utf8').trimEnd().split('\n')
  const registering = registers.flatMap(linesIn).filter((line) => new RegExp(`\\b${one}`).test(line))
  return files.flatMap(linesIn).length + registering.length
}

t.test('an endpoint of the model family takes at most sixty lines over all layers', async (t) => {
  const specified = routes.filter(({ operation, kind }) => {
    return operation.includes('/api/v1/merchant/products') && kind !== 'history'
  })
  t.equal(specified.length, 6)
  const refusing = 2 // The rule about prices: its line, and the advice.
  const lines = (linesOf('products', 'product') + refusing) / specified.length
  t.ok(lines <= 60, `${lines.toFixed(1)} lines an endpoint`)
  t.equal(readdirSync(join(root, domain, 'products')).length, 4, 'and no file was forgotten here')
})

/** Kinds whose rows take a parent, and how many ids their paths hold without one. */
const idsOf: Readonly<Partial<Record<AnyRoute['kind'], number>>> = {
  create: 0,
  list: 0,
  change: 1,
  show: 1,
  history: 1,
}

t.test('a row whose path names a parent says within what', async (t) => {
  const nested = routes.filter(
    ({ kind, params = {} }) => Object.keys(params).length > (idsOf[kind] ?? Infinity),
  )
  await lawOver(t, nested, ({ operation, params, within }) =>
    t.ok(within && within.param in params!, `${operation} finds also what is not within the parent`),
  )
})
