import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { claim } from '../../../packages/domain/claims/claim.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { EventStore } from '../../../packages/kernel/ports.ts'
import { eventually } from '../eventually.ts'
import { goodPassword, signedIn, type SignedIn } from './sign-in.ts'
import type { Answer, CallOptions } from '../service.ts'

const auth = '/api/v1/auth'
const open = { key: '' }
const retryMs = 20
const patienceMs = 20_000

/** Somebody as a client knows them, who was told less than what has happened. */
interface Person {
  /** The newest first; an older one is somebody else's to have. */
  readonly addresses: string[]
  /** `unknown`: nobody answered the registration. */
  state: 'registered' | 'unknown'
  session: SignedIn | undefined
  /** Of the other session. `unknown`: the answer to its end was lost. */
  second: { token: string; refreshToken: string; state: 'started' | 'ended' } | undefined
}

export interface Places {
  /** Clients of several processes, of which one at a time may be gone. */
  readonly clients: readonly Client[]
  readonly codes: Dependencies['codes']
}

/** People who register, sign in, refresh, change their address and sign out while processes are killed. */
export class People {
  /** So many live at most: whoever starts a process again waits longer than their work is worth. */
  most = Infinity
  readonly #places: Places
  readonly #all: Person[] = []
  #turn = 0

  constructor(places: Places) {
    this.#places = places
  }

  get count(): number {
    return this.#all.length
  }

  /** One after the other, each through everything. */
  async live(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if (this.count >= this.most) {
        await pause(retryMs)
        continue
      }
      const person: Person = {
        addresses: [address()],
        state: 'unknown',
        session: undefined,
        second: undefined,
      }
      const session = await this.#register(person.addresses[0]!)
      const number = this.#all.push(person)
      if (!session) continue
      Object.assign(person, { session, state: 'registered' })
      await this.#refresh(session).then((next) => (person.session = next))
      await this.#signInAgain(person)
      if (number % 2 === 0) await this.#move(person)
    }
  }

  /** What is not as it was told, one sentence each. */
  async complaints(): Promise<readonly string[]> {
    const found = await Promise.all(this.#all.map((person) => this.#complaintsOf(person)))
    return found.flat()
  }

  /** What became of those who were told nothing, so that a test sees that some were. */
  tally(): Readonly<Record<string, number>> {
    const count = (is: (person: Person) => boolean) => this.#all.filter(is).length
    return {
      registered: count(({ state }) => state === 'registered'),
      unknown: count(({ state }) => state === 'unknown'),
      'signed out': count(({ second }) => second?.state === 'ended'),
      moved: count(({ addresses }) => addresses.length > 1),
    }
  }

  async #complaintsOf(person: Person): Promise<readonly string[]> {
    const [newest, ...left] = person.addresses as [string, ...string[]]
    const complaints: string[] = []
    const check = (isRight: boolean, complaint: string) => {
      if (!isRight) complaints.push(`${newest}: ${complaint}`)
    }
    if (person.session) {
      check(await this.#isGood(person.session), 'a session is lost')
      const next = await this.#until(({ post }) => {
        return post(`${auth}/refresh`, { refreshToken: person.session!.refreshToken }, open)
      })
      check(next.status === 200, 'its refresh token is lost')
    }
    if (person.second?.state === 'ended') {
      check(!(await this.#isGood(person.second)), 'a session that has ended goes on')
      const { refreshToken } = person.second
      const again = await this.#until(({ post }) => post(`${auth}/refresh`, { refreshToken }, open))
      check(again.status === 401, 'the refresh token of an ended session is good')
    }
    const isWhole = await this.#isWhole(newest)
    check(isWhole || person.state === 'unknown', 'cannot sign in, or has no merchant')
    for (const old of [...left, ...(isWhole ? [] : [newest])])
      check(await this.#becomesFree(old), `${old} is held for ever`)
    return complaints
  }

  #becomesFree(email: string): Promise<boolean> {
    const register = () => this.#register(email)
    return eventually(register, (session) => session !== undefined, patienceMs).then(
      () => true,
      () => false,
    )
  }

  /** Whether who has this address can sign in, and works as the owner of a merchant with play money. */
  async #isWhole(email: string): Promise<boolean> {
    const signIn = () =>
      this.#until(({ post }) => post(`${auth}/login`, { email, password: goodPassword }, open))
    // A policy founds the merchant where the request did not get to it.
    const isFounded = ({ status, body }: Answer) => status !== 200 || body['role'] !== null
    const login = await eventually(signIn, isFounded, patienceMs).catch(() => undefined)
    if (login?.status !== 200) return false
    const key = { key: String(login.body['access_token']) }
    const { role, organization } = login.body
    const balance = await this.#until<{ available: object[] }>(
      ({ get }) => get('/api/v1/balance', key),
      ({ status, body }) => status === 200 && body.available.length === 0,
    )
    return role === 'owner' && organization !== null && balance.status === 200
  }

  /** `undefined` where nobody answered, or the address is taken. */
  async #register(email: string): Promise<SignedIn | undefined> {
    const body = { email, password: goodPassword, name: 'Awa Koné', merchantName: 'Boutique Awa' }
    const answer = await this.#next().post(`${auth}/register`, body, open).catch(whatWasSent)
    // The address is being taken or freed at this moment.
    if (answer === notSent || (answer && isRetryable(answer)))
      return pause(retryMs).then(() => this.#register(email))
    if (answer?.status !== 201) return undefined
    return signedIn({ email, password: goodPassword }, answer as never)
  }

  async #refresh(session: SignedIn): Promise<SignedIn> {
    const { refreshToken } = session
    const answer = await this.#until(({ post }) => post(`${auth}/refresh`, { refreshToken }, open))
    return signedIn(session, answer as never)
  }

  async #signInAgain(person: Person): Promise<void> {
    const [email] = person.addresses
    const answer = await this.#until(({ post }) => {
      return post(`${auth}/login`, { email, password: goodPassword }, open)
    })
    const second = signedIn({ email: email!, password: goodPassword }, answer as never)
    person.second = { ...second, state: 'started' }
    if (this.count % 3 === 0) return
    const left = await this.#until(({ post }) => post(`${auth}/logout`, undefined, { key: second.token }))
    // Whose first answer was lost is signed out already.
    if ([200, 401].includes(left.status)) person.second.state = 'ended'
  }

  /** To another address. The same key stands for the same change, so it is asked for until it is answered. */
  async #move(person: Person): Promise<void> {
    const key = { key: person.session!.token }
    const asked = await this.#until(({ post }) =>
      post(`${auth}/mfa/challenge`, { purpose: 'change_email' }, key),
    )
    const challengeId = String(asked.body['id'])
    const code = await this.#places.codes.of(challengeId)
    await this.#until(({ post }) => post(`${auth}/mfa/verify`, { challengeId, code }, open))
    const newEmail = address()
    const headers = { 'idempotency-key': randomUUID() }
    const changed = await this.#until(({ post }) => {
      return post(`${auth}/change-email`, { challengeId, newEmail }, { ...key, headers })
    })
    if (changed.status !== 200) throw new Error(`change-email answers ${JSON.stringify(changed.body)}`)
    person.addresses.unshift(newEmail)
  }

  /** Both processes agree a moment later. */
  async #isGood({ token }: Pick<SignedIn, 'token'>): Promise<boolean> {
    const statuses = async () => {
      const asked = this.#places.clients.map(({ get }) => get(`${auth}/me`, { key: token }))
      return new Set((await Promise.all(asked)).map(({ status }) => status))
    }
    for (let known = await statuses(); ; known = await statuses()) if (known.size === 1) return known.has(200)
  }

  /** Asks the processes in turn until one answers. */
  async #until<Body = Told>(
    ask: (client: Client) => Promise<Answer<Body>>,
    isToCome: (answer: Answer<Body>) => boolean = isRetryable,
  ): Promise<Answer<Body>> {
    for (;;) {
      const answer = await ask(this.#next()).catch(() => undefined)
      if (answer && !isToCome(answer)) return answer
      await pause(retryMs)
    }
  }

  #next(): Client {
    const { clients } = this.#places
    return clients[this.#turn++ % clients.length]!
  }
}

type Told = Record<string, unknown>

/** As much of a merchant's client as people need. */
export interface Client {
  get<Body = Told>(path: string, options: CallOptions): Promise<Answer<Body>>
  post<Body = Told>(path: string, body: unknown, options: CallOptions): Promise<Answer<Body>>
}

/** Claims that nobody has kept or freed after so long. */
export async function claimsLeftHeld(store: EventStore, patientMs: number): Promise<readonly string[]> {
  const events = await store.readAll(0, 100_000, { categories: [claim.category] })
  const ids = [...new Set(events.map(({ stream }) => stream.slice(claim.category.length + 1)))]
  const held = async () => {
    const states = await Promise.all(ids.map((id) => readState(store, claim, id)))
    return ids.filter((_, index) => states[index]!.status === 'held')
  }
  return eventually(held, (found) => found.length === 0, patientMs).catch(held)
}

const notSent = 'not sent'

/** A process that is gone takes no connection; of one that dies meanwhile nobody knows what it has done. */
function whatWasSent(error: unknown): typeof notSent | undefined {
  const { cause } = error as { cause?: { code?: string } }
  return cause?.code === 'ECONNREFUSED' ? notSent : undefined
}

function isRetryable({ body }: Answer<unknown>): boolean {
  return (body as { retryable?: boolean }).retryable === true
}

function address(): string {
  return `${randomUUID()}@example.com`
}
