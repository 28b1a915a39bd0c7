import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { user } from '../../packages/domain/users/user.ts'
import { claiming } from '../../services/composition/claiming.ts'
import { lawOver } from '../support/law.ts'
import { startService, type Answer, type TestService } from '../support/service.ts'
import { newUser } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
/** For each address. */
const rounds = 200
const lockMs = 15 * 60_000
/** Fewer than lock an account. */
const turnsUnlocked = 8

let service: TestService
let now = Date.now()

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(now) })
})

const post = (path: string, body: object) => service.post(`${auth}/${path}`, body, { key: '' })

const guess = 'a failed sign-in'
/** What anybody can ask of an address. */
const questions: Readonly<Record<string, (email: string) => Promise<Answer>>> = {
  [guess]: (email) => post('login', { email, password: 'encore quatre mots au hasard' }),
  'a forgotten password': (email) => post('forgot-password', { email }),
  'a link to sign in': (email) => post('magic-link', { email }),
  'a sign-in with a passkey': (email) => post('passkeys/login/begin', { email }),
  'a code before registering': (email) => post('pre-signup/email/challenge', { email }),
}

type AnswerParts = Readonly<Record<string, unknown>>

interface Timed {
  readonly answer: string
  readonly ms: number
}

async function timed(ask: (email: string) => Promise<Answer>, email: string): Promise<Timed> {
  const began = performance.now()
  const { status, body } = await ask(email)
  const ms = performance.now() - began
  const { id, created, request_id, expires_at, challenge_id, public_key: key, ...same } = body
  const { challenge, allowCredentials, ...asked } = (key ?? {}) as {
    readonly allowCredentials?: object[]
  } & AnswerParts
  const shown = { status, ...same, ...asked, listed: allowCredentials?.length }
  return { answer: JSON.stringify(shown).replaceAll(email, 'the address'), ms }
}

const median = (all: readonly Timed[]) =>
  all.map(({ ms }) => ms).toSorted((one, other) => one - other)[all.length / 2]!

/** Asks in turn of somebody's address and of nobody's, and compares. */
async function compare(
  t: Test,
  [what, ask]: readonly [string, (email: string) => Promise<Answer>],
  addresses: (turn: number) => string,
) {
  const [known, unknown]: [Timed[], Timed[]] = [[], []]
  const asking = async (first: number) => {
    for (let turn = first; turn < first + rounds; turn++) {
      // Anything else would expire while it is asked for.
      if (what === guess && turn % turnsUnlocked === 0) now += lockMs
      const all = turn % 2 === 0 ? known : unknown
      all.push(await timed(ask, addresses(turn)))
    }
  }
  // Two who ask for each in turn, so that whatever else the machine does falls on both.
  await Promise.all([asking(0), asking(rounds + 1)])
  const answers = new Set([...known, ...unknown].map(({ answer }) => answer))
  t.equal(answers.size, 1, `${what}: ${[...answers].join(', ')}`)
  const [one, other] = [median(known), median(unknown)]
  t.comment(`${what}: ${one.toFixed(1)} ms where somebody has the address, ${other.toFixed(1)} where nobody`)
  t.ok(Math.max(one, other) / Math.min(one, other) < 1.5, `${what} takes as long`)
}

t.test('nobody learns from answer or time who has registered', async (t) => {
  const { email } = await newUser(service)
  // Of as much as a hint shows, the same.
  const nobody = email.replace('@', 'x@')
  await lawOver(t, Object.entries(questions), (question) =>
    compare(t, question, (turn) => (turn % 2 === 0 ? email : nobody)),
  )
})

/** Somebody who has registered, without the hash of a password and a merchant, which take long to make. */
async function registered(email: string): Promise<void> {
  const { dependencies } = service.service.runtime
  const id = dependencies.newId()
  const envelope = { user: id, actor: 'test', correlation: 'test' } as const
  const wanted = [{ kind: 'email', value: email, refusal: 'email_must_be_free' } as const]
  const person = { email, name: 'Awa', phone: null, language: 'fr', password: null } as const
  const place = { merchant: null, founded: null } as const
  await claiming(
    { dependencies, envelope },
    { category: user.category, id },
    {
      wanted,
      take: (held) => {
        const data = { ...person, ...place, held: [...held] }
        return dependencies.executor.send(user, id, { type: 'RegisterUser', data }, envelope)
      },
    },
  )
}

t.test('nor where the service has not met an address yet', async (t) => {
  const { executor } = service.service.runtime.dependencies
  const addresses = Array.from(
    { length: 2 * rounds + 1 },
    (_, turn) => `awa.${turn}.${randomUUID()}@example.com`,
  )
  await Promise.all(addresses.filter((_, turn) => turn % 2 === 0).map(registered))
  await lawOver(t, Object.entries(questions), (question) => {
    executor.forget()
    return compare(t, question, (turn) => addresses[turn]!)
  })
})
