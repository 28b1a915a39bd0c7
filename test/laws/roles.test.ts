import t from 'tap'
import { credentialsOf } from '../../packages/contract/access/callers.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { roles, scopesOfRole } from '../../packages/contract/access/roles.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { scopes } from '../../packages/domain/index.ts'
import { routes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'
import { unknownSample } from '../support/samples.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import type { TestService } from '../support/service.ts'
import { member } from '../support/identities/users.ts'

// Every row is sent as each of the five roles.

/** Domain model 1.5, in the order of `roles`, written down a second time apart from the code. */
const table = `
  payments       rw rw rw r  rw
  payouts        rw rw r  r  r
  refunds        w  w  -  -  w
  balance        r  r  r  r  r
  audit          r  r  r  r  r
  customers      rw rw r  r  rw
  billing        rw rw r  r  r
  webhooks       rw rw rw r  r
  escrow         rw rw r  r  r
  funding        rw rw r  r  r
  marketplace    rw rw r  r  r
  automations    rw rw rw r  r
  templates      rw rw rw r  r
  assets         rw rw rw r  rw
  configuration  rw rw r  r  r
  intelligence   rw rw r  r  r
  settings       rw rw r  r  -
  organizations  w  w  -  -  -
  apikeys        rw rw rw -  -
  team           rw rw r  -  -
  months         w  -  -  -  -
`
const rights: ReadonlyMap<string, readonly string[]> = new Map(
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [area, ...letters] = line.trim().split(/\s+/)
      return [area!, letters]
    }),
)

const right = (scope: string, role: number) => {
  const [area, verb] = scope.split('.') as [string, string]
  return rights.get(area)?.[role]?.includes(verb[0]!) ?? false
}

const forUsers = routes.filter((route) => credentialsOf(route).includes('user'))
/** Those of `public` rows find out by themselves what a session is good for. */
const guarded = forUsers.filter(({ scope }) => scope !== 'own' && scope !== 'public')

/** What is the user's own, for which no role is needed. */
const own = [
  /^\w+ \/api\/v1\/auth\//,
  /^GET \/api\/v1\/organizations\/(current|mine|\{id\})$/,
  /^POST \/api\/v1\/organizations\/switch$/,
  /^GET \/api\/v1\/onboarding\/steps$/,
]

let service: TestService
const tokens: string[] = []

t.before(async () => {
  service = await startServiceWithGoogle(t)
  const body = { merchantId: service.service.credentials.merchant_id }
  for (const role of roles) {
    const { token: key } = await member(service, role)
    const answer = await service.post('/api/v1/auth/switch-merchant', body, { key })
    tokens.push(String(answer.body['access_token']))
  }
})

t.test('a row that users may call names a scope, or is about what is their own', async (t) => {
  await lawOver(t, forUsers, ({ operation, scope, ...row }: AnyRoute) => {
    if (scope === 'public') return t.ok(credentialsOf({ ...row, scope }).includes('nobody'), operation)
    if (scope !== 'own')
      return t.ok(
        rights.has(scope.split('.')[0]!),
        `the table of rights in this file has the scope ${scope} of ${operation}`,
      )
    const isOwn =
      credentialsOf({ ...row, scope }).join() === 'user' && own.some((form) => form.test(operation))
    return t.ok(isOwn, `${operation} names no scope`)
  })
})

t.test('a role has the scopes of the table, and no others', async (t) => {
  await lawOver(t, roles.entries(), ([index, role]) => {
    const granted = [...rights.keys()]
      .flatMap((area) => [`${area}.read`, `${area}.write`])
      .filter((scope) => right(scope, index))
    t.strictSame([...scopesOfRole(role)].toSorted(), granted.toSorted(), role)
  })
  await lawOver(t, scopes, (scope) => t.ok(rights.has(scope.split('.')[0]!), scope))
})

t.test('a role gets as far as the table lets it, in every row', async (t) => {
  await lawOver(t, roles.entries(), async ([index, role]) => {
    await lawOver(t, guarded, async (route) => {
      const { path, body } = unknownSample(route)
      const headers = { 'ikw-environment': 'sandbox' }
      const answer = await service.call(partsOf(route).method, path, body, { key: tokens[index]!, headers })
      const isRefused = answer.status === 403 && answer.body['code'] === 'IKW-AUTHZ-001'
      t.equal(isRefused, !right(route.scope, index), `${role}: ${route.operation} answers ${answer.status}`)
      t.not(answer.status, 401, `${role}: ${route.operation}`)
    })
  })
})
