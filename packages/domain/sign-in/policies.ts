import { policy, to } from '../../kernel/policy.ts'
import type { PlatformOwner } from '../../kernel/owner.ts'
import { user } from '../users/user.ts'
import type { SignInGuardEvents } from './sign-in-guard.ts'

export const linkCommands = {
  reset_password: 'RequestPasswordReset',
  magic_link: 'RequestMagicLink',
} as const

/** Of older requests, which name the user; who the newer ones are about is looked up by a process. */
export const sendRequestedLink = policy<SignInGuardEvents, PlatformOwner>(
  'send requested link',
  {
    SignInLinkRequested({ data: { link, purpose, user: id } }) {
      return id === null ? [] : [to(user, id, { type: linkCommands[purpose], data: { link } })]
    },
  },
  ({ data }) =>
    'user' in data && 'link' in data && data.user !== null ? { user: data.user } : { platform: true },
)
