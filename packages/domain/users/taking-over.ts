import { cancellationOf, type Contacts } from './contacts.ts'
import type { Factors } from './factors.ts'
import { disconnectionOf, type Google } from './google.ts'
import { newLink } from './links.ts'
import { removalOf, type Passkeys } from './passkeys.ts'

type ActiveUser = Factors & Passkeys & Google & Contacts & { readonly password: string | null }

/** Whoever has the mailbox takes the account over from somebody who never showed to have it. */
export function provenFirst({ totp, passkeys, google, held }: ActiveUser) {
  const taken = { type: 'UserTakenOver' as const, data: {} }
  const verified = { type: 'UserEmailVerified' as const, data: {} }
  const disabled = totp ? [{ type: 'UserTotpDisabled' as const, data: {} }] : []
  const removed = passkeys.map((passkey) => removalOf(passkey, { held }))
  return [taken, verified, ...disabled, ...removed, ...disconnectionOf({ google, held })]
}

/** Nothing that was set up before opens the account: `link` is mailed, for a new password. */
export function takenOver(known: ActiveUser, link: string, context: { readonly now: Date }) {
  const removed = known.password === null ? [] : [{ type: 'UserPasswordRemoved' as const, data: {} }]
  const reset = newLink('reset_password', link, context)
  return [
    ...provenFirst(known),
    ...removed,
    ...cancellationOf(known),
    { type: 'UserPasswordResetRequested' as const, data: reset },
  ]
}
