import type { Role } from '../../../packages/contract/access/callers.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import type { LinkPurpose } from '../../../packages/domain/users/links.ts'
import { user } from '../../../packages/domain/users/user.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { RunningService } from '../../../services/all-in-one/start.ts'
import type { TestService } from '../service.ts'
import { newUser, type SignedIn } from './sign-in.ts'

/** Somebody who works for the first merchant, besides for their own. */
export async function member(service: TestService, role: Role): Promise<SignedIn> {
  const person = await newUser(service)
  const { runtime, credentials } = service.service
  const envelope = { merchant: credentials.merchant_id, livemode: false, actor: 'test', correlation: 'test' }
  const command = { type: 'AddMember', data: { user: person.id, role } } as const
  await runtime.dependencies.executor.send(merchant, credentials.merchant_id, command, envelope)
  return person
}

/** What the mail with the user's newest link says, without waiting for it. */
export async function linkToken(
  { runtime }: Pick<RunningService, 'runtime'>,
  id: string,
  purpose: LinkPurpose,
): Promise<string> {
  const { store, tokens } = runtime.dependencies
  const state = await readState(store, user, id)
  const link = state.status === 'active' ? state.links[purpose] : undefined
  if (!link) throw new Error(`no link to ${purpose} was requested`)
  return tokens.sign('link', { subject: id, id: link.id, purpose }, new Date(link.expiresAt))
}

/** The same for a change of the address. */
export function changeToken(
  { runtime }: Pick<RunningService, 'runtime'>,
  id: string,
  link: string,
): Promise<string> {
  const inAnHour = new Date(Date.now() + 3_600_000)
  return runtime.dependencies.tokens.sign(
    'link',
    { subject: id, id: link, purpose: 'email_change' },
    inAnHour,
  )
}
