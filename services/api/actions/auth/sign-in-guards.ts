import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import {
  lockedMs,
  refuseLocked,
  signInGuard,
  type MailPurpose,
  type SignInGuard,
} from '../../../../packages/domain/sign-in/sign-in-guard.ts'
import type { QueueKeys } from '../../../../packages/kernel/ports/credentials.ts'
import { actingFor, type Envelope } from '../../../../packages/kernel/envelope.ts'
import { networksOf, siteOf, type Network } from '../../http/networks.ts'
import type { FoundUser } from './user-accounts.ts'

interface Proof {
  readonly email: string
  readonly password: string
  /** Is looked up meanwhile. */
  readonly known: Promise<FoundUser | undefined> | FoundUser
}

type Proving = Pick<Request, 'dependencies' | 'envelope' | 'client'>

/** Whether the password is right, unless too many were wrong before: then it is not even looked at. */
export async function provePassword(request: Proving, proof: Proof): Promise<boolean> {
  const isConfirmed = async (_: FoundUser, confirm: Confirm) => confirm().then(() => true)
  return (await openByPassword(request, proof, isConfirmed)) ?? false
}

/** Throws where so many have failed meanwhile that even the right password opens nothing. */
export type Confirm = () => Promise<void>

/** The same, and what the right one opens: nothing of that is handed out before it is confirmed. */
export async function openByPassword<Opened>(
  request: Proving,
  { email, password, known }: Proof,
  open: (user: FoundUser, confirm: Confirm) => Promise<Opened>,
): Promise<Opened | undefined> {
  const [user, guards] = await Promise.all([known, guardsOf(request, email)])
  const place = request.dependencies.passwords.reserve(queueKeysOf(request, email))
  try {
    await guards.admit(user?.id ?? null)
    const isRight = await place.isRight(password, user?.state.password ?? null)
    if (user && isRight) {
      // Refused like the others, so that time does not tell either.
      if (guards.seemsLocked()) await guards.confirm()
      return await open(user, () => guards.confirm())
    }
    await guards.fail(user?.id ?? null)
    return undefined
  } finally {
    place.release()
  }
}

/** Whose passwords are hashed, so that neither an account nor a network takes what others need. */
export function queueKeysOf({ client }: Pick<Request<unknown>, 'client'>, email: string): QueueKeys {
  const account = `account ${email.trim().toLowerCase()}`
  return client.address === null ? [account] : [account, `network ${siteOf(client.address)}`]
}

/** Who has proved by a mailed link that the address is theirs can sign in again at once. */
export async function unlock(
  { dependencies, envelope }: Pick<Request, 'dependencies' | 'envelope'>,
  email: string,
  link: string,
): Promise<void> {
  const pass = { type: 'PassSignIn', data: { attempt: link } } as const
  const account = await guardOfAccount(dependencies, email)
  await dependencies.executor.send(signInGuard, account, pass, guarding(envelope))
}

type Counting = Pick<Request<unknown>, 'dependencies' | 'envelope' | 'client'>

interface Counted {
  readonly purpose: MailPurpose
  /** Left out for strangers, who are told apart by their networks. */
  readonly user?: string
}

/** Mails go to an address, and messages to a number, some times an hour; nobody uses them up for others. */
export async function countMail(
  request: Counting,
  address: string,
  { purpose, user }: Counted,
): Promise<void> {
  const { dependencies, envelope } = request
  const guard = await guardOfAccount(dependencies, address)
  const data = { purpose, asker: await askerOf(request, user), isLimited: dependencies.limitsCounts }
  await dependencies.executor.send(signInGuard, guard, { type: 'RequestMail', data }, guarding(envelope))
}

/** The same for messages, which cost money: also by user, or by the network address of strangers. */
export async function countText(request: Counting, phone: string, { purpose, user }: Counted): Promise<void> {
  const askers =
    user === undefined ? networksOf(request.client.address ?? '') : [{ name: user, times: 1 } as const]
  await countShared(request, 'texts', askers)
  await countMail(request, phone, { purpose, ...(user !== undefined && { user }) })
}

/** Whoever shares a network registers so many times an hour. */
export function countRegistration(request: Counting): Promise<void> {
  return countShared(request, 'registrations', networksOf(request.client.address ?? ''))
}

interface Inviting {
  readonly email: string
  readonly by: string
}

/** By who is invited, over all who invite, and by who invites, over all who are invited. */
export async function countInvitation(request: Counting, { email, by }: Inviting): Promise<void> {
  await countShared(request, 'invitations', [{ name: by, times: 1 }])
  await countMail(request, email, { purpose: 'invitation', user: by })
}

/** What one asks for however many are written to. */
async function countShared(
  { dependencies, envelope }: Counting,
  purpose: 'texts' | 'registrations' | 'invitations',
  askers: readonly Network[],
): Promise<void> {
  const { blindIndex, executor, limitsCounts: isLimited } = dependencies
  for (const { name, times } of askers) {
    const guard = await blindIndex(JSON.stringify(['sign in', purpose, name]))
    const data = { purpose, asker: null, isLimited, times } as const
    await executor.send(signInGuard, guard, { type: 'RequestMail', data }, guarding(envelope))
  }
}

/** Counts codes of one user's authenticator over all challenges: each takes five, but there can be many. */
export async function triesOfFactors(
  { dependencies, envelope }: Pick<Request, 'dependencies' | 'envelope'>,
  user: string,
) {
  return triesAt({ dependencies, envelope }, await guardOfFactors(dependencies, user))
}

function triesAt({ dependencies, envelope }: Pick<Request, 'dependencies' | 'envelope'>, guard: string) {
  const { executor, clock, newId } = dependencies
  const attempt = newId()
  const own = guarding(envelope)
  return {
    /** Refused while locked. An attempt counts as failed until it has passed. */
    async begin(user: string | null) {
      const data = { attempt, user, of: 'account' as const }
      const { state } = await executor.send(signInGuard, guard, { type: 'TrySignIn', data }, own)
      const isTaken = state.tried.some((one) => one.attempt === attempt)
      if (!isTaken) refuseLocked(state, data.of, clock())
    },
    async pass() {
      await executor.send(signInGuard, guard, { type: 'PassSignIn', data: { attempt } }, own)
    },
  }
}

/**
 * Counts passwords that were wrong: with one account over all network addresses, and from one over all
 * accounts. Refused where too many have come from this one. They count before the answer, which they decide:
 * of a thousand at once ten are told that they are wrong, and then none that it is right.
 */
async function guardsOf({ dependencies, envelope, client }: Proving, email: string) {
  const { executor, clock, newId } = dependencies
  const guard = await guardOfAccount(dependencies, email)
  const account = triesAt({ dependencies, envelope }, guard)
  const places = client.address === null ? [] : await guardsOfPlace(dependencies, client.address)
  const current = async () => (await executor.current(signInGuard, guard)).state
  const [known] = await Promise.all([
    current(),
    ...places.map(async ({ guard: place, of }) =>
      refuseLocked((await executor.current(signInGuard, place)).state, of, clock()),
    ),
  ])
  const isLocked = (state: SignInGuard) => lockedMs(state, 'account', clock()) > 0
  return {
    /** Refused while locked, which the first one notes. */
    async admit(user: string | null) {
      if (isLocked(known)) await account.begin(user)
    },
    /** By what this process has seen. */
    seemsLocked: () => isLocked(executor.lastSeen(signInGuard, guard) ?? known),
    async confirm() {
      const state = await current()
      refuseLocked(state, 'account', clock())
      if (state.tried.length > 0) await account.pass()
    },
    async fail(user: string | null) {
      await account.begin(user)
      const own = guarding(envelope)
      for (const { guard: place, of } of places) {
        const data = { attempt: newId(), user: null, of }
        await executor.send(signInGuard, place, { type: 'TrySignIn', data }, own)
      }
    },
  }
}

/** Who asks for a mail: a user, or a stranger's network. */
export function askerOf(
  { dependencies, client }: Pick<Request<unknown>, 'dependencies' | 'client'>,
  user?: string,
): Promise<string> {
  return dependencies.blindIndex(JSON.stringify(['sign in', 'asker', user ?? siteOf(client.address ?? '')]))
}

export function guarding(envelope: Envelope) {
  return actingFor({ platform: true as const }, envelope)
}

export function guardOfAccount({ blindIndex }: Dependencies, email: string): Promise<string> {
  return blindIndex(JSON.stringify(['sign in', 'account', email.trim().toLowerCase()]))
}

function guardOfFactors({ blindIndex }: Dependencies, user: string): Promise<string> {
  return blindIndex(JSON.stringify(['sign in', 'factors', user]))
}

const countedBy = { 1: 'address', 2: 'subscriber', 4: 'site' } as const

function guardsOfPlace({ blindIndex }: Dependencies, address: string) {
  return Promise.all(
    networksOf(address).map(async ({ name, times }) => ({
      guard: await blindIndex(JSON.stringify(['sign in', 'address', name])),
      of: countedBy[times],
    })),
  )
}
