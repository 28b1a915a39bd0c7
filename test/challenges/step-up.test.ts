import t from 'tap'
import {
  challenge,
  stepUpPurposes,
  type ChallengePurpose,
} from '../../packages/domain/challenges/challenge.ts'
import { user as users } from '../../packages/domain/users/user.ts'
import { routes } from '../../services/families.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import { ownerSession } from '../support/identities/identity-samples.ts'
import { lawOver } from '../support/law.ts'
import { withPasskey } from '../support/identities/passkey-samples.ts'
import { withTotp } from '../support/identities/second-factors.ts'
import type { Answer, TestService } from '../support/service.ts'
import { newUser, type SignedIn } from '../support/identities/sign-in.ts'

interface Guarded {
  readonly purpose: ChallengePurpose
  readonly body?: Readonly<Record<string, unknown>>
  /** Where the path names one. */
  readonly id?: string
  /** Who asks, where it is not the owner. */
  readonly by?: SignedIn
}

/** Takes the challenge that it asks for an answer to. */
const answering = [
  'POST /api/v1/auth/mfa/verify',
  'POST /api/v1/auth/pre-signup/email/verify',
  'POST /api/v1/auth/pre-signup/phone/verify',
]
const proven = routes.filter(
  ({ operation, body, query }) =>
    [body, query].some((schema) => schema && 'challengeId' in (schema.properties ?? {})) &&
    !answering.includes(operation),
)
const other = 'encore quatre mots au hasard'

let service: TestService
let owner: SignedIn
let stranger: SignedIn
/** What each operation does when the challenge is right, in an order in which all can. */
let guarded: Readonly<Record<string, Guarded>>

/** Who has both second factors, so that proofs are asked for wherever they may be. */
t.before(async () => {
  service = await startServiceWithGoogle(t)
  owner = await ownerSession(service)
  stranger = await newUser(service)
  const linked = await newUser(service)
  const held = [{ claim: crypto.randomUUID(), hold: crypto.randomUUID() }]
  const connect = { type: 'ConnectGoogle', data: { email: null, held } } as const
  await executor().send(users, linked.id, connect, envelopeOf(linked))
  for (const one of [owner, linked]) await withTotp(service, one)
  const challengeId = await verified('passkey_registration', owner)
  const passkey = await withPasskey(service, owner, { challengeId })
  const keyed = await newUser(service)
  await withPasskey(service, keyed)
  const issued = await ask('POST /api/v1/auth/api-keys', keyRequest, await verified('api_key', owner))
  guarded = guardedBy({ linked, keyed, passkey: passkey.id, key: String(issued.body['id']) })
})

const keyRequest: Guarded = {
  purpose: 'api_key',
  body: { name: 'Shop', environment: 'live', scopes: ['balance.read'] },
}

interface Having {
  readonly linked: SignedIn
  readonly keyed: SignedIn
  readonly passkey: string
  readonly key: string
}

function guardedBy({ linked, keyed, passkey, key }: Having): Readonly<Record<string, Guarded>> {
  const to = (purpose: ChallengePurpose, body: Guarded['body'] = {}) => ({ purpose, body })
  return {
    'POST /api/v1/auth/api-keys': keyRequest,
    'POST /api/v1/auth/api-keys/{id}/roll': { purpose: 'api_key', id: key },
    'POST /api/v1/auth/google/connect': to('google_connect'),
    'POST /api/v1/auth/google/disconnect': { purpose: 'google_disconnect', by: linked },
    'POST /api/v1/auth/passkeys/registration/begin': to('passkey_registration'),
    'POST /api/v1/auth/mfa/totp/setup': { purpose: 'enable_totp', by: keyed },
    'POST /api/v1/auth/mfa/recovery-codes': to('recovery_codes'),
    'POST /api/v1/auth/email-change/request': to('change_email', { newEmail: 'one@example.com' }),
    'POST /api/v1/auth/change-email': to('change_email', { newEmail: 'two@example.com' }),
    'POST /api/v1/auth/phone-change/request': to('change_phone', { newPhone: '+221770000001' }),
    'POST /api/v1/auth/change-phone': to('change_phone', { newPhone: '+221770000002' }),
    'POST /api/v1/auth/personal-info/sensitive': to('sensitive_update', { newPhone: '+221770000003' }),
    'DELETE /api/v1/auth/passkeys/{id}': { purpose: 'remove_passkey', id: passkey },
    'POST /api/v1/auth/mfa/totp/disable': to('disable_totp'),
    'POST /api/v1/auth/change-password-mfa': to('change_password', { newPassword: other }),
  }
}

const executor = () => service.service.runtime.dependencies.executor
const envelopeOf = ({ id: user }: SignedIn) => ({ user, actor: 'test', correlation: 'test' })

async function waiting(purpose: ChallengePurpose, by: SignedIn): Promise<string> {
  const id = crypto.randomUUID()
  const issued = { purpose, method: 'email', user: by.id, destination: null } as const
  const data = { ...issued, language: 'fr', passwordChanges: 0 } as const
  await executor().send(challenge, id, { type: 'IssueChallenge', data }, envelopeOf(by))
  return id
}

async function verified(purpose: ChallengePurpose, by: SignedIn): Promise<string> {
  const id = await waiting(purpose, by)
  const answer = { type: 'AnswerChallenge', data: { isRight: true, method: 'email' } } as const
  await executor().send(challenge, id, answer, envelopeOf(by))
  return id
}

function ask(
  operation: string,
  { body, id = '', by = owner }: Guarded,
  challengeId: string,
): Promise<Answer> {
  const [method, path] = operation.replace('{id}', id).split(' ') as [string, string]
  const key = { key: by.token }
  if (method === 'DELETE') return service.call(method, `${path}?challengeId=${challengeId}`, undefined, key)
  return service.call(method, path, { ...body, challengeId }, key)
}

t.test('what a challenge guards is all in the table', async (t) => {
  t.strictSame(proven.map(({ operation }) => operation).toSorted(), Object.keys(guarded).toSorted())
  t.strictSame(new Set(Object.values(guarded).map(({ purpose }) => purpose)), new Set(stepUpPurposes))
})

t.test('a challenge of another purpose or user, or one that waits, opens nothing', async (t) => {
  const refused = { status: 403, body: { code: 'IKW-AUTHZ-004' } }
  await lawOver(t, Object.entries(guarded), async ([operation, wanted]) => {
    const { purpose, by = owner } = wanted
    const wrong: Record<string, string> = {
      'which waits': await waiting(purpose, by),
      'of a stranger': await verified(purpose, stranger),
      'of nobody': crypto.randomUUID(),
    }
    for (const one of stepUpPurposes) if (one !== purpose) wrong[`to ${one}`] = await verified(one, by)
    for (const [what, id] of Object.entries(wrong))
      t.match(await ask(operation, wanted, id), refused, `${operation}, one ${what}`)
  })
})

t.test('the right one opens what it is for, once', async (t) => {
  await lawOver(t, Object.entries(guarded), async ([operation, wanted]) => {
    const id = await verified(wanted.purpose, wanted.by ?? owner)
    const first = await ask(operation, wanted, id)
    t.ok(first.status < 300, `${operation} answers ${first.status} ${JSON.stringify(first.body)}`)
    const again = await ask(operation, wanted, id)
    t.ok(again.status >= 400, `${operation} answers ${again.status} the second time`)
  })
})
