import type { Family } from '../../contract/family.ts'
import { sendRequestedLink } from './policies.ts'
import { signInGuard } from './sign-in-guard.ts'
import { tokenKeys } from './token-keys.ts'

/** What stands before a user: guards against guessing, and the keys that sign tokens. */
export const signIn: Family = {
  name: 'sign-in',
  streams: [signInGuard, tokenKeys],
  policies: [sendRequestedLink],
}
