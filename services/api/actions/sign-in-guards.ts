import type { Dependencies, Request } from '../../../packages/contract/routes.ts'
import { refuseLocked, signInGuard } from '../../../packages/domain/sign-in/sign-in-guard.ts'
import { actingFor, type Envelope } from '../../../packages/kernel/envelope.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { networkOf } from '../http/rate-limit.ts'
import type { FoundUser } from './user-accounts.ts'

interface Proof {
  readonly email: string
  readonly password: string
  readonly known: Pick<FoundUser, 'id' | 'state'> | undefined
}

/** Whether the password is right, unless too many were wrong before: then it is not even looked at. */
export async function provePassword(
  request: Pick<Request, 'dependencies' | 'envelope' | 'client'>,
  { email, password, known }: Proof,
): Promise<boolean> {
  const guards = await guardsOf(request, email)
  await guards.begin(known?.id ?? null)
  const isRight = await request.dependencies.passwords.isRight(password, known?.state.password ?? null)
  await (isRight ? guards.pass() : guards.fail())
  return isRight
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

/** Codes are mailed to an address some times an hour, no more. */
export async function countCode(
  { dependencies, envelope, id }: Pick<Request, 'dependencies' | 'envelope' | 'id'>,
  address: string,
): Promise<void> {
  const guard = await guardOfAccount(dependencies, address)
  const data = { challenge: id, isLimited: dependencies.limitsCounts }
  await dependencies.executor.send(signInGuard, guard, { type: 'RequestCode', data }, guarding(envelope))
}

/** Counts attempts: with one account over all network addresses, and from one over all accounts. */
async function guardsOf(
  { dependencies, envelope, client }: Pick<Request, 'dependencies' | 'envelope' | 'client'>,
  email: string,
) {
  const { executor, store, clock, newId } = dependencies
  const account = await guardOfAccount(dependencies, email)
  const place = client.address === null ? undefined : await guardOfPlace(dependencies, client.address)
  const attempt = newId()
  const own = guarding(envelope)
  return {
    /** Refused while locked. An attempt counts as failed until it has passed. */
    async begin(user: string | null) {
      if (place !== undefined) refuseLocked(await readState(store, signInGuard, place), 'address', clock())
      const data = { attempt, user, of: 'account' as const }
      await executor.send(signInGuard, account, { type: 'TrySignIn', data }, own)
    },
    async fail() {
      const data = { attempt, user: null, of: 'address' as const }
      if (place !== undefined) await executor.send(signInGuard, place, { type: 'TrySignIn', data }, own)
    },
    async pass() {
      await executor.send(signInGuard, account, { type: 'PassSignIn', data: { attempt } }, own)
    },
  }
}

export function guarding(envelope: Envelope) {
  return actingFor({ platform: true as const }, envelope)
}

export function guardOfAccount({ blindIndex }: Dependencies, email: string): Promise<string> {
  return blindIndex(JSON.stringify(['sign in', 'account', email.trim().toLowerCase()]))
}

function guardOfPlace({ blindIndex }: Dependencies, address: string): Promise<string> {
  return blindIndex(JSON.stringify(['sign in', 'address', networkOf(address)]))
}
