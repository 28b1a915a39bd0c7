import t from 'tap'
import { lawOver } from '../support/law.ts'
import { startService, type Answer, type TestService } from '../support/service.ts'
import { newUser } from '../support/sign-in.ts'

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

/** What anybody can ask of an address. */
const questions: Readonly<Record<string, (email: string) => Promise<Answer>>> = {
  'a failed sign-in': (email) => post('login', { email, password: 'encore quatre mots au hasard' }),
  'a forgotten password': (email) => post('forgot-password', { email }),
  'a link to sign in': (email) => post('magic-link', { email }),
  'a code before registering': (email) => post('pre-signup/email/challenge', { email }),
}

interface Timed {
  readonly answer: string
  readonly ms: number
}

async function timed(ask: (email: string) => Promise<Answer>, email: string): Promise<Timed> {
  const began = performance.now()
  const { status, body } = await ask(email)
  const ms = performance.now() - began
  const { id, created, request_id, expires_at, ...same } = body
  return { answer: JSON.stringify({ status, ...same }).replaceAll(email, 'the address'), ms }
}

const median = (all: readonly Timed[]) =>
  all.map(({ ms }) => ms).toSorted((one, other) => one - other)[all.length / 2]!

t.test('nobody learns from answer or time who has registered', async (t) => {
  const { email } = await newUser(service)
  // Of as much as a hint shows, the same.
  const nobody = email.replace('@', 'x@')
  await lawOver(t, Object.entries(questions), async ([what, ask]) => {
    const [known, unknown]: [Timed[], Timed[]] = [[], []]
    const asking = async (first: number) => {
      for (let turn = first; turn < first + rounds; turn++) {
        if (turn % turnsUnlocked === 0) now += lockMs
        const [all, address] = turn % 2 === 0 ? [known, email] : [unknown, nobody]
        all.push(await timed(ask, address))
      }
    }
    // Two who ask for each in turn, so that whatever else the machine does falls on both.
    await Promise.all([asking(0), asking(1)])
    const answers = new Set([...known, ...unknown].map(({ answer }) => answer))
    t.equal(answers.size, 1, `${what}: ${[...answers].join(', ')}`)
    const [one, other] = [median(known), median(unknown)]
    t.comment(
      `${what}: ${one.toFixed(1)} ms where somebody has the address, ${other.toFixed(1)} where nobody`,
    )
    t.ok(Math.max(one, other) / Math.min(one, other) < 1.5, `${what} takes as long`)
  })
})
