import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Executor } from '../../packages/kernel/execution/execute.ts'
import { categoryOf } from '../../packages/kernel/decider.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { beginSignIn } from '../../services/api/actions/auth/passkeys.ts'
import { challengeEmail } from '../../services/api/actions/auth/pre-signup.ts'
import { guardOfAccount } from '../../services/api/actions/auth/sign-in-guards.ts'
import { login } from '../../services/api/actions/auth/sign-in.ts'
import { knownUser } from '../../services/api/actions/auth/user-accounts.ts'
import { forgotPassword } from '../../services/api/actions/auth/users.ts'
import { executorRefusals } from '../../services/composition/dependencies.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { signInGuard } from '../../packages/domain/sign-in/sign-in-guard.ts'
import { user } from '../../packages/domain/users/user.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { startService, type Answer, type TestService } from '../support/service.ts'
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

/** A process that has seen nothing yet, and what it has read, written and hashed for the last question. */
function processOfItsOwn() {
  const { dependencies } = service.service.runtime
  const work: string[] = []
  /** What was asked of the store within one turn of the event loop, which it does by one statement. */
  const turns: string[][] = []
  let isSameTurn = false
  const note = (what: string) => {
    work.push(what)
    if (!isSameTurn) turns.push([])
    isSameTurn = true
    turns.at(-1)!.push(what)
    setImmediate(() => (isSameTurn = false))
  }
  const { readStream, append } = dependencies.store
  const store: EventStore = {
    ...dependencies.store,
    readStream: (stream, ...range) => {
      note(`read ${categoryOf(stream)}`)
      return readStream(stream, ...range)
    },
    append: (stream, expected, events) => {
      note(`append ${categoryOf(stream)} ${events.map(({ type }) => type).join()}`)
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
  /** What happens elsewhere while a password is hashed. */
  const meanwhile = { hashing: async () => undefined as unknown }
  const passwords = {
    ...dependencies.passwords,
    reserve: (keys: readonly string[]) => {
      work.push('hash')
      const place = dependencies.passwords.reserve(keys)
      const isRight = async (...guess: Parameters<typeof place.isRight>) => {
        const is = await place.isRight(...guess)
        await meanwhile.hashing()
        return is
      }
      return { ...place, isRight }
    },
  }
  const answer = async (question: (request: never) => Promise<unknown>, body: object) => {
    work.length = turns.length = 0
    const envelope = { platform: true, actor: 'test', correlation: 'test' }
    const client = { address: '203.0.113.1', device: null, country: null, language: null }
    const own = { ...dependencies, store, executor, passwords }
    const request = { dependencies: own, envelope, client, body, id: newId() } as unknown as Asked
    return (await question(request as never)) as Answer['body']
  }
  const answered = (question: (request: never) => Promise<unknown>, body: object) =>
    answer(question, body).catch(() => undefined)
  const ask = async (question: (request: never) => Promise<unknown>, email: string) => {
    await answered(question, { email, password: 'encore quatre mots au hasard' })
    return work.toSorted()
  }
  const done = () => work.toSorted()
  return {
    ask,
    answer,
    answered,
    store,
    executor,
    meanwhile,
    done,
    turns: () => turns.map((turn) => turn.toSorted()),
  }
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
  const work = await processOfItsOwn().ask(forgotPassword, email)
  t.strictSame(work, ['append sign_in SignInLinkRequested', 'read sign_in'])
})

t.test('a process does the same for an address that somebody has, at first and later', async (t) => {
  await lawOver(t, Object.entries(questions), async ([what, question]) => {
    const { email } = await settled()
    const nobody = email.replace('@', 'x@')
    const asking = [processOfItsOwn(), processOfItsOwn()] as const
    for (const time of ['cold', 'warm']) {
      const known = await asking[0].ask(question, email)
      t.ok(known.length > 0, `${what} does something: ${known.join()}`)
      t.strictSame(await asking[1].ask(question, nobody), known, `${what}, ${time}`)
    }
    const crossed = await asking[0].ask(question, nobody)
    t.strictSame(await asking[1].ask(question, email), crossed, `${what}, crossed`)
  })
})

t.test('who has signed in at a process before is read twice and written once', async (t) => {
  const { email, password } = await settled()
  const process = processOfItsOwn()
  for (const _ of ['cold', 'warm']) t.ok(await process.answered(login, { email, password }))
  t.strictSame(process.turns(), [
    ['read claim', 'read sign_in', 'read sign_in', 'read user'],
    ['append user_session SessionStarted'],
    ['read merchant', 'read organization', 'read sign_in', 'read user'],
  ])
})

/** Ten guesses fail, as this executor notes them. */
async function guessTenTimes({ executor }: Pick<Dependencies, 'executor'>, email: string): Promise<void> {
  const { dependencies } = service.service.runtime
  const guard = await guardOfAccount(dependencies, email)
  const envelope = { platform: true, actor: 'test', correlation: 'test' } as const
  const failed = () => {
    const data = { attempt: dependencies.newId(), user: null, of: 'account' } as const
    return { command: { type: 'TrySignIn', data }, envelope } as const
  }
  await executor.sendAll(signInGuard, guard, Array.from({ length: 10 }, failed))
}

const locked = 'sign_in_must_not_be_locked'
/** Why it was refused. */
const refusalOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => undefined,
    (error: { readonly reason?: string }) => error.reason,
  )

t.test('of guesses at two processes at once ten are told that they are wrong', async (t) => {
  const { email } = await settled()
  const guess = ({ answer }: ReturnType<typeof processOfItsOwn>) =>
    refusalOf(answer(login, { email, password: 'encore quatre mots au hasard' }))
  const both = [processOfItsOwn(), processOfItsOwn()] as const
  const told = await Promise.all(Array.from({ length: 20 }, (_, which) => guess(both[which % 2]!)))
  t.equal(told.filter((reason) => reason === 'email_and_password_must_be_right').length, 10)
  t.equal(told.filter((reason) => reason === locked).length, 10)
})

t.test('the right password opens nothing that was locked while it was hashed', async (t) => {
  const { email, password, id } = await settled()
  const { dependencies } = service.service.runtime
  const going = async () => (await dependencies.executor.current(userSessions, id)).state.active.length
  const process = processOfItsOwn()
  t.ok(await process.answered(login, { email, password }))
  const before = await going()
  process.meanwhile.hashing = () => guessTenTimes(dependencies, email)
  t.equal(await refusalOf(process.answer(login, { email, password })), locked, 'by another process')
  t.equal(await going(), before, 'what had begun has ended')
})

t.test('nor does it end the oldest of fifty sessions, whatever this process has seen of them', async (t) => {
  const { dependencies } = service.service.runtime
  const { executor } = dependencies
  const origin = { device: null, address: null, country: null }
  const about = { method: 'password', merchant: null, endings: 0, mayEndOldest: false, ...origin } as const
  await lawOver(t, ['none', 'some'], async (seen) => {
    const { email, password, id } = await settled()
    const envelope = { user: id, actor: 'test', correlation: 'test' }
    const process = processOfItsOwn()
    if (seen === 'some') t.ok(await process.answered(login, { email, password }))
    const start = () => {
      const command = { type: 'StartSession', data: { session: dependencies.newId(), ...about } } as const
      return { command, envelope }
    }
    // Those that are too many do not start.
    await executor.sendAll(userSessions, id, Array.from({ length: 50 }, start))
    const going = async () => (await executor.current(userSessions, id)).state.active.map((one) => one.id)
    const before = await going()
    t.equal(before.length, 50)
    process.meanwhile.hashing = () => guessTenTimes(dependencies, email)
    t.equal(await refusalOf(process.answer(login, { email, password })), locked, seen)
    t.strictSame(await going(), before, seen)
  })
})

t.test('nor what this process has locked, and then nothing begins', async (t) => {
  const { email, password } = await settled()
  const process = processOfItsOwn()
  t.ok(await process.answered(login, { email, password }))
  process.meanwhile.hashing = () => guessTenTimes(process, email)
  t.equal(await refusalOf(process.answer(login, { email, password })), locked)
  t.notOk(process.done().some((what) => what.startsWith('append user_session')))
})

t.test('a password that is right forgets those that were wrong before', async (t) => {
  const { email, password } = await settled()
  const process = processOfItsOwn()
  await process.ask(login, email)
  t.ok(await process.answered(login, { email, password }))
  t.ok(process.done().includes('append sign_in SignInPassed'))
  t.ok(await process.answered(login, { email, password }))
  t.notOk(process.done().some((what) => what.startsWith('append sign_in')))
})

t.test(
  'no session works for a merchant whose member the user is no more, whatever is remembered',
  async (t) => {
    const { email, password, id, merchant: own } = await settled()
    const { executor } = service.service.runtime.dependencies
    const { merchant_id: first } = service.service.credentials
    const envelope = { actor: 'test', correlation: 'test' }
    const there = { ...envelope, merchant: first, livemode: false }
    const add = { type: 'AddMember', data: { user: id, role: 'admin' } } as const
    await executor.send(merchant, first, add, there)
    const choose = { type: 'ChooseDefaultMerchant', data: { merchant: first } } as const
    await executor.send(user, id, choose, { ...envelope, user: id })
    const process = processOfItsOwn()
    const worksAt = async () => (await process.answered(login, { email, password }))?.['merchant']
    t.match(await worksAt(), { id: first })
    const other = processOfItsOwn()
    t.match(await other.answered(login, { email, password }), { merchant: { id: first } })
    await executor.send(merchant, first, { type: 'RemoveMember', data: { user: id } }, there)
    t.match(await worksAt(), { id: own })
    const append = other.store.append.bind(other.store)
    const begun = new Set<unknown>()
    other.store.append = async (stream, expected, events) => {
      for (const { type, data } of events)
        if (type === 'SessionStarted') begun.add((data as { session?: string }).session)
      // Before the session that takes the place of the first one.
      if (begun.size === 2) {
        const data = { password: '$argon2id$…', session: null }
        await executor.send(user, id, { type: 'ChangePassword', data }, { ...envelope, user: id })
      }
      return append(stream, expected, events)
    }
    t.equal(await other.answered(login, { email, password }), undefined, 'the password is another one by now')
    t.equal(begun.size, 2)
  },
)

t.test('no session outlives that its user undoes what was added while it begins', async (t) => {
  const { email, password, id } = await settled()
  const { executor } = service.service.runtime.dependencies
  const process = processOfItsOwn()
  const append = process.store.append.bind(process.store)
  process.store.append = async (stream, expected, events) => {
    if (events.some(({ type }) => type === 'SessionStarted')) {
      const undo = { type: 'UndoFactors', data: { since: new Date().toISOString() } } as const
      await executor.send(user, id, undo, { actor: 'test', correlation: 'test', user: id })
    }
    return append(stream, expected, events)
  }
  t.equal(await process.answered(login, { email, password }), undefined)
  process.store.append = append
  t.match(await process.answered(login, { email, password }), { object: 'auth_session' })
})
