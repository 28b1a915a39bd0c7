import assert from 'node:assert/strict'
import t from 'tap'
import { Refusal } from '../../packages/contract/refusals.ts'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { signInGuard } from '../../packages/domain/sign-in/sign-in-guard.ts'
import { user as users } from '../../packages/domain/users/user.ts'
import { decide, evolve, type Decider, type Message, type Payloads } from '../../packages/kernel/decider.ts'
import type { Owner } from '../../packages/kernel/owner.ts'
import { fc } from '../support/properties.ts'

const minute = 60_000
const place = { device: null, address: null, country: null }
const start = Date.parse('2026-01-01T12:00:00Z')

/** One stream, as a process has it. */
class Stream<S, C extends Payloads, E extends Payloads, O extends Owner> {
  readonly #decider: Decider<S, C, E, O>
  readonly #owner: O
  state: S

  constructor(decider: Decider<S, C, E, O>, owner: O) {
    this.#decider = decider
    this.#owner = owner
    this.state = decider.initial()
  }

  /** The types of its events; undefined for a refusal. */
  send(command: Message<C>, now: number): readonly string[] | undefined {
    const context = { id: 'the one', now: new Date(now), ...this.#owner }
    try {
      const events = decide(this.#decider, command, this.state, context as never)
      const stamp = { ...this.#owner, at: context.now.toISOString() }
      for (const event of events) this.state = evolve(this.#decider, this.state, event, stamp as never)
      return events.map(({ type }) => type)
    } catch (error) {
      if (error instanceof Refusal) return undefined
      throw error
    }
  }
}

/** What a person would note of a session beside it. */
interface Noted {
  /** Refreshed so often. */
  generation: number
  usedAt: number
  isOver: boolean
}

/** One account with all that anybody does to it, and a simple idea of what must come of it. */
class Account {
  now = start
  readonly #guard = new Stream(signInGuard, { platform: true })
  readonly #user = new Stream(users, { user: 'awa' })
  readonly #sessions = new Stream(userSessions, { user: 'awa' })
  readonly #noted = new Map<string, Noted>()
  readonly #links: string[] = []
  readonly #spent = new Set<string>()
  /** Guesses that were looked at since the last one that passed. */
  #guesses: number[] = []
  #password = 'first'
  #count = 0
  #totp: { step: number; codes: string[] } | undefined

  constructor() {
    const person = { email: 'awa@example.com', name: 'Awa', phone: null, language: 'fr' } as const
    const data = { ...person, password: 'first', held: [], merchant: null, founded: null }
    this.#user.send({ type: 'RegisterUser', data }, this.now)
  }

  #id(): string {
    return `id ${(this.#count += 1)}`
  }

  signIn(password: string): boolean {
    const attempt = this.#id()
    const tried = this.#guard.send(
      { type: 'TrySignIn', data: { attempt, user: null, of: 'account' } },
      this.now,
    )
    if (!tried?.includes('SignInTried')) return false
    this.#guesses = [...this.#guesses, this.now].slice(-11)
    const [eleventh] = this.#guesses
    const isTooMany = this.#guesses.length > 10 && this.now - eleventh! < 15 * minute
    assert.ok(!isTooMany, 'ten guesses are looked at')
    if (password !== this.#password) return false
    this.#guard.send({ type: 'PassSignIn', data: { attempt } }, this.now)
    this.#guesses = []
    if (this.#totp && !this.#useCode()) return false
    return this.#begin()
  }

  #useCode(): boolean {
    const step = Math.floor(this.now / 30_000)
    const isNew = step > this.#totp!.step
    const isTaken = this.#user.send({ type: 'UseTotp', data: { step } }, this.now) !== undefined
    assert.equal(isTaken, isNew, 'no code of an authenticator twice')
    if (isTaken) this.#totp!.step = step
    return isTaken || this.useRecoveryCode(0)
  }

  #begin(): boolean {
    const session = this.#id()
    const rest = { method: 'password', merchant: null, endings: 0, mayEndOldest: true } as const
    this.#sessions.send({ type: 'StartSession', data: { session, ...rest, ...place } }, this.now)
    this.#noted.set(session, { generation: 0, usedAt: this.now, isOver: false })
    return true
  }

  refresh(which: number, age: number): void {
    const [session, noted] = this.#any(which) ?? []
    if (!session || !noted) return
    const generation = noted.generation - age
    if (generation < 0) return
    const types = this.#sessions.send(
      { type: 'RefreshSession', data: { session, generation, ...place } },
      this.now,
    )
    const isKind = age === 1 && this.now - noted.usedAt <= 10_000
    if (noted.isOver) assert.equal(types, undefined, 'no token of a session that has ended')
    else if (age === 0) assert.deepEqual(types, ['SessionRefreshed'])
    else assert.deepEqual(types, isKind ? [] : ['SessionEnded'], 'no token twice')
    if (noted.isOver) return
    if (age > 0) noted.isOver = !isKind
    else Object.assign(noted, { generation: generation + 1, usedAt: this.now })
  }

  end(which: number): void {
    const [session, noted] = this.#any(which) ?? []
    if (!session || !noted) return
    this.#sessions.send({ type: 'EndSession', data: { session, reason: 'ended_by_user' } }, this.now)
    noted.isOver = true
  }

  endOthers(which: number | undefined): void {
    const [except = null] = which === undefined ? [] : (this.#any(which) ?? [])
    const data = { endings: null, except, reason: 'ended_by_user' } as const
    this.#sessions.send({ type: 'EndSessions', data }, this.now)
    for (const [id, noted] of this.#noted) if (id !== except) noted.isOver = true
  }

  changePassword(): void {
    this.#password = this.#id()
    const data = { password: this.#password, session: null }
    assert.ok(this.#user.send({ type: 'ChangePassword', data }, this.now))
    this.endOthers(undefined)
  }

  askForLink(asker: string): void {
    const link = this.#id()
    const data = { link, purpose: 'reset_password', user: null, claim: null, asker, isLimited: true } as const
    if (this.#guard.send({ type: 'RequestSignInLink', data }, this.now)?.length !== 1) return
    this.#user.send({ type: 'RequestPasswordReset', data: { link } }, this.now)
    this.#links.push(link)
  }

  /** A process that ends before it has noted that it has carried a request out does so again. */
  repeatRequest(age: number): void {
    const link = this.#links.at(-1 - age)
    if (link === undefined) return
    const types = this.#user.send({ type: 'RequestPasswordReset', data: { link } }, this.now)
    assert.deepEqual(types, [], 'a repeat of a request makes no link good again')
  }

  /** With the newest link, or one before. */
  reset(age: number): boolean {
    const link = this.#links.at(-1 - age)
    if (link === undefined) return false
    const password = this.#id()
    const data = { password, session: null, link }
    const isTaken = this.#user.send({ type: 'ChangePassword', data }, this.now) !== undefined
    const isStale = this.#spent.has(link) || age > 0
    assert.ok(!(isTaken && isStale), 'a link is good once, and only the newest')
    if (!isTaken) return false
    this.#spent.add(link)
    if (!this.#isVerified) this.#totp = undefined
    this.#isVerified = true
    this.#password = password
    this.endOthers(undefined)
    this.#guard.send({ type: 'PassSignIn', data: { attempt: link } }, this.now)
    this.#guesses = []
    return true
  }

  #isVerified = false

  enableTotp(): void {
    const secretId = this.#id()
    const step = Math.floor(this.now / 30_000)
    if (!this.#user.send({ type: 'SetUpTotp', data: { secretId, secret: 's' } }, this.now)) return
    const codes = [this.#id(), this.#id()]
    const data = { secretId, step, batch: this.#id(), digests: codes }
    assert.ok(this.#user.send({ type: 'EnableTotp', data }, this.now))
    this.#totp = { step, codes }
  }

  disableTotp(): void {
    this.#user.send({ type: 'DisableTotp', data: {} }, this.now)
    this.#totp = undefined
  }

  useRecoveryCode(which: number): boolean {
    const digest = this.#totp?.codes[which]
    if (digest === undefined) return false
    const data = { digest }
    const isTaken = this.#user.send({ type: 'UseRecoveryCode', data }, this.now) !== undefined
    assert.equal(isTaken, !this.#spent.has(digest), 'no recovery code twice')
    this.#spent.add(digest)
    return isTaken
  }

  #any(which: number): readonly [string, Noted] | undefined {
    const all = [...this.#noted]
    return all[which % Math.max(1, all.length)]
  }

  get password(): string {
    return this.#password
  }

  /** Those that go on are those that nobody has ended; more than fifty do not come about here. */
  check(): void {
    const goOn = [...this.#noted].filter(([, { isOver }]) => !isOver).map(([id]) => id)
    assert.deepEqual(
      this.#sessions.state.active.map(({ id }) => id),
      goOn,
      'no session goes on after its end, and none is lost',
    )
  }

  /** Whatever has happened: who has the mailbox gets in within a quarter of an hour. */
  checkThatTheOwnerGetsIn(): void {
    this.now += 15 * minute
    this.askForLink('owner')
    assert.ok(this.reset(0), 'the newest link in the mailbox opens the account')
    if (this.#totp) this.now += 30_000
    assert.ok(this.signIn(this.#password), 'nobody is locked out for good')
  }
}

const which = fc.nat({ max: 2 })
const steps = {
  wait: fc.constantFrom(1_000, 9_000, 31_000, 5 * minute, 16 * minute, 70 * minute),
  signIn: fc.constantFrom('right', 'wrong', 'wrong', 'wrong'),
  guess: fc.constantFrom(5, 12),
  refresh: fc.tuple(which, fc.constantFrom(0, 0, 1, 2)),
  end: which,
  endOthers: fc.option(which, { nil: undefined }),
  changePassword: fc.constant(0),
  askForLink: fc.constantFrom('owner', 'stranger', 'another stranger'),
  repeatRequest: fc.constantFrom(0, 0, 1),
  reset: fc.constantFrom(0, 0, 1),
  enableTotp: fc.constant(0),
  disableTotp: fc.constant(0),
  useRecoveryCode: fc.nat({ max: 1 }),
}
type Step = { [Name in keyof typeof steps]: readonly [Name, Given<Name>] }[keyof typeof steps]
type Given<Name extends keyof typeof steps> = (typeof steps)[Name] extends fc.Arbitrary<infer T> ? T : never

const acts: { readonly [Name in keyof typeof steps]: (account: Account, given: Given<Name>) => unknown } = {
  wait: (account, ms) => (account.now += ms),
  signIn: (account, how) => account.signIn(how === 'right' ? account.password : 'wrong'),
  guess: (account, times) => Array.from({ length: times }, () => account.signIn('wrong')),
  refresh: (account, [session, age]) => account.refresh(session, age),
  end: (account, session) => account.end(session),
  endOthers: (account, session) => account.endOthers(session),
  changePassword: (account) => account.changePassword(),
  askForLink: (account, asker) => account.askForLink(asker),
  repeatRequest: (account, age) => account.repeatRequest(age),
  reset: (account, age) => account.reset(age),
  enableTotp: (account) => account.enableTotp(),
  disableTotp: (account) => account.disableTotp(),
  useRecoveryCode: (account, code) => account.useRecoveryCode(code),
}

/** What most others only make sense with. */
const frequent: readonly string[] = ['wait', 'signIn', 'refresh']
const anyStep = fc.oneof(
  ...Object.entries(steps).map(([name, given]) => ({
    weight: frequent.includes(name) ? 4 : 1,
    arbitrary: (given as fc.Arbitrary<unknown>).map((one) => [name, one]),
  })),
) as unknown as fc.Arbitrary<Step>

t.test('whatever users and strangers do, in whichever order, the account stays its owner’s', async (t) => {
  const done = new Set<string>()
  const sequences = fc.array(anyStep, { minLength: 5, maxLength: 40 })
  const property = fc.property(sequences, (sequence) => {
    const account = new Account()
    for (const [name, given] of sequence) {
      acts[name](account, given as never)
      account.check()
      done.add(name)
    }
    account.checkThatTheOwnerGetsIn()
    account.check()
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 1_000 }))
  t.equal(done.size, Object.keys(steps).length)
})
