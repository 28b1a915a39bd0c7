import { refuse } from '../../contract/refusals.ts'
import { literals, record, Timestamp } from '../../contract/vocabulary.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import { cancellationOf, type ContactEvents, type Contacts } from './contacts.ts'
import type { FactorEvents, Factors } from './factors.ts'
import { disconnectionOf, type Google, type GoogleEvents } from './google.ts'
import type { Changes, Decisions } from './parts.ts'
import { removalOf, type PasskeyEvents, type Passkeys } from './passkeys.ts'

/** What a user is told of by mail: whoever did it may be another one. */
export const noticed = [
  'UserPasswordChanged',
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

export const noticeEvents = {
  /** The mail is with the mail server, or would have come too late to be news. */
  UserNoticeMailed: stored(1, record({ what: literals(...noticed), at: Timestamp })),
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
  /** A link that was mailed before is spent. */
  readonly undoneAt: string | null
}

export const noNotices: Notices = { notices: [], undoneAt: null }

export function isSame(one: Notice, other: Notice): boolean {
  return one.what === other.what && one.at === other.at
}

// Decisions, of a user who exists

export type NoticeCommands = {
  NoteNoticeMailed: Notice
  UndoFactors: { since: string }
}

type Known = Notices & Factors & Passkeys & Google & Pick<Contacts, 'emailChange'>

export const decideNotices: Decisions<Known, NoticeCommands, NoticeEvents & Removals> = {
  // Several of one kind at one moment are one mail.
  NoteNoticeMailed: (notice, { notices }) =>
    notices.some((one) => isSame(one, notice)) ? [{ type: 'UserNoticeMailed', data: notice }] : [],

  UndoFactors({ since }, known) {
    const { totp, passkeys, google, held, undoneAt } = known
    if (undoneAt !== null && since <= undoneAt) refuse('token_must_be_valid')
    const disabled = totp && totp.enabledAt >= since ? [{ type: 'UserTotpDisabled' as const, data: {} }] : []
    const removed = passkeys.filter(({ createdAt }) => createdAt >= since)
    const left = google && google.connectedAt >= since ? google : null
    return [
      { type: 'UserFactorsUndone', data: { since } },
      ...disabled,
      ...removed.map((passkey) => removalOf(passkey, { held })),
      ...disconnectionOf({ google: left, held }),
      // Whoever added the factor may have asked for it.
      ...cancellationOf(known),
    ]
  },
}

type Removals = Pick<
  FactorEvents & PasskeyEvents & GoogleEvents & ContactEvents,
  'UserTotpDisabled' | 'UserPasskeyRemoved' | 'UserGoogleDisconnected' | 'UserEmailChangeCanceled'
>

export const noticeChanges: Changes<Notices & Pick<Factors, 'setup'>, NoticeEvents> = {
  UserNoticeMailed: ({ notices }, notice) => ({
    notices: notices.filter((one) => !isSame(one, notice)),
  }),
  UserFactorsUndone: (_, __, { at }) => ({ undoneAt: at, setup: null }),
}
