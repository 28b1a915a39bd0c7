import type { UserOwner } from '../../kernel/owner.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import type { UserEvents } from './events.ts'
import type { LinkPurpose } from './links.ts'

type LinkRequested = RecordedEvent<UserEvents['UserPasswordResetRequested'], UserOwner>

const subject = (id: string, purpose: LinkPurpose) => `${id}.${purpose}`

/**
 * A mail is a timer that is due at once: it is tried until the mail server has taken it. A newer link takes
 * the place of an older one.
 */
const mail = (purpose: LinkPurpose) => (event: LinkRequested) => [
  start('link_mail', subject(event.id, purpose), event, event.metadata.at),
]

export const userTimers = timerHandlers<UserEvents, UserOwner>({
  UserEmailVerificationRequested: mail('verify_email'),
  UserEmailVerified: ({ id }) => [stop('link_mail', subject(id, 'verify_email'))],
  UserPasswordResetRequested: mail('reset_password'),
  UserPasswordChanged: ({ id }) => [stop('link_mail', subject(id, 'reset_password'))],
  UserLinkMailed: ({ id, data }) => [stop('link_mail', subject(id, data.purpose))],
})
