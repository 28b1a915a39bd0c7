import { claim } from '../../packages/domain/claims/claim.ts'
import { linkCommands } from '../../packages/domain/sign-in/policies.ts'
import type { SignInGuardEvents } from '../../packages/domain/sign-in/sign-in-guard.ts'
import { user } from '../../packages/domain/users/user.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { PlatformOwner } from '../../packages/kernel/owner.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { Process, Reaction } from './runner/process.ts'

type Requested = RecordedEvent<SignInGuardEvents['SignInLinkRequested'], PlatformOwner>

/** Finds who has the address that a link was asked for. The request was answered without looking. */
export const requestedLinkProcess: Process = { reactions: { SignInLinkRequested: requestLink } }

/** Its stream is the platform's, which the runner knows nothing of. */
async function requestLink({ event, tools }: Reaction): Promise<void> {
  const { claim: name, link, purpose } = (event as unknown as Requested).data
  if (name === null) return
  const { store, executor } = tools.dependencies
  const held = await readState(store, claim, name)
  if (held.status === 'free') return
  const { id } = held.holder
  const { state: known } = await executor.current(user, id)
  if (known.status !== 'active') return
  const request = { type: linkCommands[purpose], data: { link } } as const
  await tools.send(to(user, id, request), { user: id }, 'timer')
}
