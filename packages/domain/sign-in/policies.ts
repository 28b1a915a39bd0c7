import { policy, to } from '../../kernel/policy.ts'
import type { PlatformOwner } from '../../kernel/owner.ts'
import { user } from '../users/user.ts'
import type { SignInGuardEvents } from './sign-in-guard.ts'

const requests = { reset_password: 'RequestPasswordReset', magic_link: 'RequestMagicLink' } as const

/** The request for a link takes as long for an address that nobody has: what follows comes later. */
export const sendRequestedLink = policy<SignInGuardEvents, PlatformOwner>(
  'send requested link',
  {
    SignInLinkRequested({ data: { link, purpose, user: id } }) {
      return id === null ? [] : [to(user, id, { type: requests[purpose], data: { link } })]
    },
  },
  ({ data }) =>
    'user' in data && 'link' in data && data.user !== null ? { user: data.user } : { platform: true },
)
