import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import core, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import t from 'tap'
import { credentialsOf } from '../../packages/contract/access/callers.ts'
import { advice } from '../../packages/contract/refusals/advice.ts'
import { answerOf } from '../../packages/contract/lists/query.ts'
import { openapi } from '../../packages/contract/openapi/openapi.ts'
import { isType } from '../../packages/contract/openapi/shapes.ts'
import { refusalsOf } from '../../packages/contract/refusals/of-operation.ts'
import { refusals, type RefusalName } from '../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import type { TSchema } from '../../packages/contract/vocabulary.ts'
import { idPrefixes, publicSources, webhookTypes } from '../../packages/domain/index.ts'
import { routes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { schemaFaults } from '../support/schemas/schema-faults.ts'
import { root } from '../support/root.ts'

const document = openapi(routes, { baseUrl: 'https://payments.ikw.test', idPrefixes, publicSources })

type Content = Readonly<
  Record<string, { readonly example?: unknown; readonly examples?: Record<string, { value: unknown }> }>
>

interface Described {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly additionalProperties?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}
type Schemas = Readonly<Record<string, Schema>>

const described = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      operation as unknown as Described,
    ]),
  ),
)

const expected = readFileSync(join(root, 'test/fixtures/operations.txt'), 'utf8').trim().split('\n')

t.test('Redocly finds nothing in the document', async (t) => {
  const file = join(temporaryDirectory(t), 'openapi.json')
  writeFileSync(file, JSON.stringify(document, undefined, 2))
  const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js')
  const offline = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const lint = promisify(execFile)(
    process.execPath,
    [redocly, 'lint', file, '--config', join(root, 'redocly.yaml'), '--format', 'json'],
    {
      env: { PATH: '', HOME: join(file, '..'), ...offline },
    },
  )
  const { stdout } = await lint.catch((error: { stdout: string }) => error)
  const { problems } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { problems: readonly unknown[] }
  t.strictSame(problems, [])
})

t.test('Spectral finds nothing in the document', async (t) => {
  const spectral = new core.Spectral()
  spectral.setRuleset({
    extends: [rulesets.oas as unknown as RulesetDefinition],
    rules: {
      // It knows scopes of OAuth only. 3.1 lets each scheme name what a caller must be allowed to do.
      'oas3-operation-security-defined': 'off',
      // WebhookEvent is for clients that take deliveries; no operation answers it.
      'oas3-unused-component': 'off',
    },
  })
  const findings = await spectral.run(JSON.stringify(document))
  t.strictSame(
    findings.map(({ code, path, message }) => [code, path.join('.'), message]),
    [],
  )
})

t.test(
  'every row of the table is an operation, and the operations are those of the specification',
  async (t) => {
    t.strictSame([...described.keys()].sort(), routes.map(({ operation }) => operation).sort())
    t.strictSame(
      [...described.keys()].sort(),
      [...expected].sort(),
      'test/fixtures/operations.txt lists each',
    )
  },
)

t.test('operations have names that are unique and can be methods of a client', async (t) => {
  const names = [...described.values()].map(({ operationId }) => operationId)
  t.equal(new Set(names).size, names.length)
  t.strictSame(
    names.filter((name) => !/^[a-z]+([A-Z][a-z0-9]*)+$/.test(name)),
    [],
  )
})

t.test('every refusal of a row is in its answers, with an example', async (t) => {
  await lawOver(t, routes, (route) => {
    const refused = Object.entries(described.get(route.operation)!.responses).flatMap(
      ([status, { content }]) => {
        const { examples } = content?.['application/problem+json'] ?? {}
        return Object.keys(examples ?? {}).map((name) => `${status} ${name}`)
      },
    )
    t.strictSame(
      refused.sort(),
      refusalsOf(route)
        .map((name) => `${refusals[name][0]} ${name}`)
        .sort(),
      route.operation,
    )
  })
})

t.test('every refusal says what to do about it, and is answered somewhere', async (t) => {
  const names = Object.keys(refusals) as RefusalName[]
  const answered = new Set(routes.flatMap(refusalsOf))
  t.strictSame(Object.keys(advice).sort(), [...names].sort(), 'packages/contract/refusals/advice.ts has each')
  // The first ones answer commands of the support and words of operators; no row has the next three; the last
  // is the book's own guard.
  t.strictSame(
    names.filter((name) => !answered.has(name)),
    [
      'payout_must_be_pending',
      'payout_must_be_under_way',
      'payout_must_be_paid',
      'payout_must_be_returnable',
      'payout_must_have_failed',
      'intervention_must_have_two_names',
      'request_must_be_http',
      'headers_must_not_be_too_large',
      'method_must_be_allowed',
      'account_must_cover_the_amount',
    ],
    'a row names each among its refusals',
  )
})

t.test('the webhooks of the document are the public event types', async (t) => {
  t.strictSame(Object.keys(document.webhooks).sort(), Object.keys(webhookTypes).sort())
})

t.test('all examples satisfy their schemas', async (t) => {
  const bodies = routes.flatMap((route) => {
    const { requestBody } = described.get(route.operation)!
    const examples = Object.entries(requestBody?.content['application/json']?.examples ?? {})
    return examples.map(([name, { value }]) => ({ route, name, value }))
  })
  await lawOver(t, bodies, ({ route, name, value }) =>
    t.strictSame(schemaFaults(route.body!, value), [], `${route.operation} ${name}`),
  )
  const answering = routes.filter(({ kind }) => kind !== 'redirect')
  await lawOver(t, answering, (route) => {
    const [answer] = Object.values(described.get(route.operation)!.responses)
    t.strictSame(
      schemaFaults(answerOf(route), answer!.content!['application/json']!.example),
      [],
      `${route.operation} is answered`,
    )
  })
})

t.test('every field says what it is, and every reason for a failure what it means', async (t) => {
  const silent: string[] = []
  const schemas = document.components['schemas'] as Schemas
  const textOf = ({ $ref, description }: Schema): string | undefined =>
    description ?? ($ref && schemas[$ref.slice('#/components/schemas/'.length)]?.description)
  const visit = (schema: Schema | undefined, at: string): void => {
    for (const [name, field] of Object.entries(schema?.properties ?? {})) {
      if (!textOf(field)) silent.push(`${at}.${name}`)
      visit(field, `${at}.${name}`)
    }
    for (const inner of [schema?.items, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])])
      if (inner) visit(inner, at)
  }
  for (const [name, schema] of Object.entries(schemas)) visit(schema, name)
  t.strictSame(silent, [], 'describe them in the schema, or in packages/contract/openapi/field-texts.ts')
  t.notMatch(JSON.stringify(document), 'not described')
})

t.test('every enumeration, union and object has a name that a generator can take', async (t) => {
  const nameless: string[] = []
  const visit = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { type } = value as { readonly type?: unknown }
    const isUnion = Array.isArray(type) && type.includes('object')
    if (isUnion || isType(value as TSchema)) nameless.push(at)
    for (const [key, inner] of Object.entries(value)) {
      if (key !== 'example' && key !== 'examples') visit(inner, `${at}/${key}`)
    }
  }
  const { schemas, ...components } = document.components as Record<string, Schemas>
  await lawOver(t, Object.entries(schemas!), ([name, schema]) => {
    for (const [key, inner] of Object.entries(schema)) visit(inner, `${name}/${key}`)
  })
  visit(components, 'components')
  visit(document.paths, 'paths')
  visit(document.webhooks, 'webhooks')
  t.strictSame(nameless, [])
  const numbered = Object.keys(schemas!).filter((name) => /\d/.test(name))
  t.strictSame(numbered, [], 'a name says what it is')
})

t.test('a currency is in lower case in invoices, refunds and the data of webhooks alone', async (t) => {
  const { schemas } = document.components as Record<string, Schemas>
  const lower = Object.entries(schemas!).flatMap(([name, { properties = {} }]) =>
    JSON.stringify(properties).includes('/LowerCurrencyCode"') ? [name] : [],
  )
  await lawOver(t, lower, (name) => t.match(name, /Invoice|^Refund$|InWebhook/))
})

t.test('an operation takes the credentials that its row takes', async (t) => {
  const of = (row: Pick<AnyRoute, 'scope' | 'credentials'>) => {
    const route = { ...routes[0]!, ...row }
    const { paths, components } = openapi([route], { baseUrl: '', idPrefixes, publicSources: [] })
    const [operation] = Object.values(Object.values(paths)[0]!)
    return [operation!['security'], Object.keys(components['securitySchemes'] as object)]
  }
  const scope = 'payouts.read'
  t.strictSame(of({ scope }), [
    [{ ApiKey: [scope] }, { AppToken: [scope] }, { UserSession: [scope] }],
    ['ApiKey', 'AppToken', 'UserSession'],
  ])
  t.strictSame(of({ scope, credentials: ['user'] }), [[{ UserSession: [scope] }], ['UserSession']])
  t.strictSame(of({ scope: 'public' }), [[], []])
  t.strictSame(of({ scope: 'public', credentials: ['customer_portal', 'nobody'] }), [
    [{ CustomerPortal: [] }, {}],
    ['CustomerPortal'],
  ])
  await lawOver(t, routes, (route) => {
    const given = (described.get(route.operation)! as unknown as { security: object[] }).security
    const nothing = Number(!credentialsOf(route).some((kind) => kind !== 'nobody'))
    t.equal(given.length + nothing, credentialsOf(route).length, route.operation)
  })
})

t.test('answers may grow, requests may not', async (t) => {
  const schemas = document.components['schemas'] as Schemas
  t.notOk('additionalProperties' in schemas['Payout']!)
  t.equal(schemas['CreatePayoutRequest']!.additionalProperties, false)
  t.ok(schemas['WebhookEvent']!.oneOf!.length >= Object.keys(webhookTypes).length)
})

t.test('the documentation names no operation that is not there', async (t) => {
  const texts = JSON.stringify([document.info, document.tags, advice])
  const named = [...texts.matchAll(/`(\/(?:api|operations)\/[a-z0-9/-]+)`/g)].map(([, path]) => path!)
  t.not(named.length, 0)
  t.strictSame(
    named.filter((path) => !(path in document.paths)),
    [],
  )
})
