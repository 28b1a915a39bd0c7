import { refuse } from '../../contract/refusals.ts'
import { literals, record, Timestamp, Type } from '../../contract/vocabulary.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import { withMailAt } from '../../kernel/time/mail-pace.ts'
import { cancellationOf, type ContactEvents, type Contacts } from './contacts.ts'
import { endingSessions, type EndedSessions } from './ended-sessions.ts'
import type { FactorEvents, Factors } from './factors.ts'
import { disconnectionOf, type Google, type GoogleEvents } from './google.ts'
import type { Changes, Decisions } from './parts.ts'
import { removalOf, type PasskeyEvents, type Passkeys } from './passkeys.ts'

/** What a user is told of by mail: whoever did it may be another one. */
export const noticed = [
  'UserPasswordChanged',
  'UserPasswordRemoved',
  'UserTakenOver',
  'UserTotpEnabled',
  'UserTotpDisabled',
  'UserPasskeyRegistered',
  'UserPasskeyRemoved',
  'UserGoogleConnected',
  'UserGoogleDisconnected',
] as const
export type Noticed = (typeof noticed)[number]

/** A factor that was added can be removed again by whoever has the mailbox, for so long. */
export const undoLastsMs = 7 * 24 * 3_600_000

// Events

/** A newer version only tells of more. */
const asItWas = (old: object) => old

export const noticeEvents = {
  /** One mail about these is with the mail server, or would have come too late to be news. */
  UserNoticeMailed: stored(
    3,
    record({ notices: Type.Array(record({ what: literals(...noticed), at: Timestamp })) }),
    { 1: (old) => ({ notices: [old] }), 2: asItWas },
  ),
  /** With a mailed link: each factor that was added since is removed. */
  UserFactorsUndone: stored(1, record({ since: Timestamp })),
}

export type NoticeEvents = EventsOf<typeof noticeEvents>

// State

export interface Notice {
  readonly what: Noticed
  /** RFC 3339. */
  readonly at: string
}

export interface Notices {
  /** Not mailed yet, oldest first. */
  readonly notices: readonly Notice[]
  /** When mails about them were sent last, oldest first. */
  readonly noticesMailedAt: readonly string[]
  /** A link that was mailed before is spent. */
  readonly undoneAt: string | null
}

export const noNotices: Notices = { notices: [], noticesMailedAt: [], undoneAt: null }

export function isSame(one: Notice, other: Notice): boolean {
  return one.what === other.what && one.at === other.at
}

// Decisions, of a user who exists

export type NoticeCommands = {
  /** They were told by one mail. */
  NoteNoticesMailed: { notices: readonly Notice[] }
  UndoFactors: { since: string }
}

type NoticedUser = Notices & Factors & Passkeys & Google & Pick<Contacts, 'emailChange' | 'leftAt'>

export const decideNotices: Decisions<NoticedUser, NoticeCommands, NoticeEvents & Removals> = {
  NoteNoticesMailed({ notices: told }, { notices }) {
    const news = told.filter((notice) => notices.some((one) => isSame(one, notice)))
    return news.length > 0 ? [{ type: 'UserNoticeMailed', data: { notices: news } }] : []
  },

  UndoFactors({ since }, known) {
    const { totp, passkeys, google, held, undoneAt, emailChange } = known
    if (undoneAt !== null && since <= undoneAt) refuse('token_must_be_valid')
    const until = mailboxLeftAt(known, since)
    const isAmong = (at: string) => at >= since && (until === undefined || at <= until)
    const disabled = totp && isAmong(totp.enabledAt) ? [{ type: 'UserTotpDisabled' as const, data: {} }] : []
    const removed = passkeys
      .filter(({ createdAt }) => isAmong(createdAt))
      .map((passkey) => removalOf(passkey, { held }))
    const left = google && isAmong(google.connectedAt) ? google : null
    const undone = [...disabled, ...removed, ...disconnectionOf({ google: left, held })]
    if (until !== undefined && undone.length === 0) refuse('token_must_be_valid')
    // Whoever added the factor may have asked for it.
    const canceled = emailChange && isAmong(emailChange.requestedAt) ? cancellationOf(known) : []
    return [{ type: 'UserFactorsUndone', data: { since } }, ...undone, ...canceled]
  },
}

/** A mailbox undoes what was done while it was the user's, and nothing of what came later. */
function mailboxLeftAt({ leftAt }: Pick<Contacts, 'leftAt'>, since: string): string | undefined {
  return leftAt.find((at) => at >= since)
}

type Removals = Pick<
  FactorEvents & PasskeyEvents & GoogleEvents & ContactEvents,
  'UserTotpDisabled' | 'UserPasskeyRemoved' | 'UserGoogleDisconnected' | 'UserEmailChangeCanceled'
>

export const noticeChanges: Changes<
  Notices & EndedSessions & Pick<Factors, 'setup'> & Pick<Contacts, 'leftAt'>,
  NoticeEvents
> = {
  UserNoticeMailed: ({ notices, noticesMailedAt }, { notices: told }, { at }) => ({
    notices: notices.filter((one) => !told.some((notice) => isSame(one, notice))),
    noticesMailedAt: withMailAt(noticesMailedAt, at),
  }),
  UserFactorsUndone(state, { since }, { at }) {
    const until = mailboxLeftAt(state, since)
    const ended = endingSessions(state, null)
    if (until !== undefined) return { ...ended, undoneAt: until }
    return { ...ended, undoneAt: at, setup: state.setup && { ...state.setup, from: null } }
  },
}
