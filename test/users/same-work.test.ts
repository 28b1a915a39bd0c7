import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Executor } from '../../packages/kernel/execution/execute.ts'
import { categoryOf } from '../../packages/kernel/decider.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { beginSignIn } from '../../services/api/actions/auth/passkeys.ts'
import { challengeEmail } from '../../services/api/actions/auth/pre-signup.ts'
import { login } from '../../services/api/actions/auth/sign-in.ts'
import { knownUser } from '../../services/api/actions/auth/user-accounts.ts'
import { forgotPassword } from '../../services/api/actions/auth/users.ts'
import { executorRefusals } from '../../services/composition/dependencies.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser } from '../support/identities/sign-in.ts'

type Asked = Parameters<typeof login>[0]

/** What anybody can ask of an address. */
const questions: Readonly<Record<string, (request: never) => Promise<unknown>>> = {
  'a failed sign-in': login,
  'a link': forgotPassword,
  'a sign-in with a passkey': beginSignIn,
  'a code before registering': challengeEmail,
}

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** A process that has seen nothing yet, and what it has read, written and hashed. */
function processOfItsOwn() {
  const { dependencies } = service.service.runtime
  const work: string[] = []
  const { readStream, append } = dependencies.store
  const store: EventStore = {
    ...dependencies.store,
    readStream: (stream, ...range) => {
      work.push(`read ${categoryOf(stream)}`)
      return readStream(stream, ...range)
    },
    append: (stream, expected, events) => {
      work.push(`append ${categoryOf(stream)} ${events.map(({ type }) => type).join()}`)
      return append(stream, expected, events)
    },
  }
  const { clock, newId, log } = dependencies
  const snapshots = { load: async () => undefined, save: async () => undefined }
  const executor = new Executor({
    ...{ store, snapshots, clock, newId, log, refuse: executorRefusals },
    newSalt: () => randomBytes(16).toString('base64url'),
    pause: async () => undefined,
  })
  const passwords = {
    ...dependencies.passwords,
    reserve: (asking: readonly string[]) => {
      work.push('hash')
      return dependencies.passwords.reserve(asking)
    },
  }
  const ask = async (question: (request: never) => Promise<unknown>, email: string) => {
    work.length = 0
    const envelope = { platform: true, actor: 'test', correlation: 'test' }
    const client = { address: '203.0.113.1', device: null, country: null, language: null }
    const body = { email, password: 'encore quatre mots au hasard' }
    const own = { ...dependencies, store, executor, passwords }
    const request = { dependencies: own, envelope, client, body, id: newId() } as unknown as Asked
    await question(request as never).catch(() => undefined)
    return work.toSorted()
  }
  return ask
}

/** Nothing follows any more from the registration. */
async function settled() {
  const registered = await newUser(service)
  await eventually(
    () => knownUser(service.service.runtime.dependencies, registered.id),
    ({ links }) => links.verify_email?.isMailed === true,
  )
  return registered
}

t.test('whose an address is, is not looked up before a link for it is promised', async (t) => {
  const { email } = await settled()
  const work = await processOfItsOwn()(forgotPassword, email)
  t.strictSame(work, ['append sign_in SignInLinkRequested', 'read sign_in'])
})

t.test('a process does the same for an address that somebody has, at first and later', async (t) => {
  await lawOver(t, Object.entries(questions), async ([what, question]) => {
    const { email } = await settled()
    const nobody = email.replace('@', 'x@')
    const asking = [processOfItsOwn(), processOfItsOwn()] as const
    for (const time of ['cold', 'warm']) {
      const known = await asking[0](question, email)
      t.ok(known.length > 0, `${what} does something: ${known.join()}`)
      t.strictSame(await asking[1](question, nobody), known, `${what}, ${time}`)
    }
    t.strictSame(await asking[0](question, nobody), await asking[1](question, email), `${what}, crossed`)
  })
})
