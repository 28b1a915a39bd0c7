import type { UserOwner } from '../../kernel/owner.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import type { UserEvents } from './events.ts'
import { linkPurposes, type LinkPurpose } from './links.ts'
import { noticed, type Notice } from './notices.ts'

type LinkRequested = RecordedEvent<UserEvents['UserPasswordResetRequested'], UserOwner>

const subject = (id: string, purpose: LinkPurpose) => `${id}.${purpose}`

const notice = (id: string, { what, at }: Notice) => `${id}.${what}.${at}`

type Telling = RecordedEvent<object, UserOwner>
const notices = Object.fromEntries(
  noticed.map((what) => [
    what,
    (event: Telling) => {
      const { at } = event.metadata
      return [start('security_notice', notice(event.id, { what, at }), event, at)]
    },
  ]),
)

/**
 * A mail is a timer that is due at once: it is tried until the mail server has taken it. A newer link takes
 * the place of an older one.
 */
const mail = (purpose: LinkPurpose) => (event: LinkRequested) => [
  start('link_mail', subject(event.id, purpose), event, event.metadata.at),
]

export const userTimers = timerHandlers<UserEvents, UserOwner>({
  ...notices,
  UserEmailVerificationRequested: mail('verify_email'),
  UserEmailVerified: ({ id }) => [stop('link_mail', subject(id, 'verify_email'))],
  UserPasswordResetRequested: mail('reset_password'),
  UserPasswordChanged: (event) => [
    stop('link_mail', subject(event.id, 'reset_password')),
    ...notices['UserPasswordChanged']!(event),
  ],
  UserNoticeMailed: ({ id, data }) => data.notices.map((one) => stop('security_notice', notice(id, one))),
  UserMagicLinkRequested: mail('magic_link'),
  UserMagicLinkUsed: ({ id }) => [stop('link_mail', subject(id, 'magic_link'))],
  UserEmailChangeRequested: (event) => [start('email_change_mail', event.id, event, event.metadata.at)],
  UserEmailChangeMailed: ({ id }) => [stop('email_change_mail', id)],
  UserEmailChangeCanceled: ({ id }) => [stop('email_change_mail', id)],
  // What was mailed to the old address is worth nothing now, and the old address is told.
  UserEmailChanged: (event) => [
    stop('email_change_mail', event.id),
    ...linkPurposes.map((purpose) => stop('link_mail', subject(event.id, purpose))),
    start('previous_email', event.id, event, event.metadata.at),
  ],
  UserPreviousEmailTold: ({ id }) => [stop('previous_email', id)],
  UserLinkMailed: ({ id, data }) => [stop('link_mail', subject(id, data.purpose))],
})
