import { literals, nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { contactEvents } from './contacts.ts'
import { factorEvents } from './factors.ts'
import { googleEvents } from './google.ts'
import { Held } from './held.ts'
import { leavingEvents } from './leaving.ts'
import { linkPurposes } from './links.ts'
import { noticeEvents } from './notices.ts'
import { passkeyEvents } from './passkeys.ts'
import { onboardingEvents } from './onboarding.ts'
import { aboutUser } from './parts.ts'
import { phoneEvents } from './phones.ts'

export const languages = ['fr', 'en'] as const
export const Language = literals(...languages)
export type Language = (typeof languages)[number]

/** The merchant that a new user starts with, and the organization that owns it. */
const Founded = record({
  organization: Uuid,
  name: personal(Type.String()),
  country: Type.String(),
  currency: Type.String(),
})

/** A link that is mailed. Its token is signed when it is sent and stored nowhere. */
const Link = record({ link: Uuid, expiresAt: Timestamp })

/** A newer version only has more purposes. */
const asItWas = (old: object) => old

export const userEvents = {
  ...factorEvents,
  ...contactEvents,
  ...passkeyEvents,
  ...googleEvents,
  ...leavingEvents,
  ...onboardingEvents,
  ...phoneEvents,
  ...noticeEvents,
  UserRegistered: sealedFor(
    aboutUser,
    stored(
      1,
      record({
        email: personal(Type.String()),
        name: personal(Type.String()),
        phone: personal(nullable(Type.String())),
        language: Language,
        /** Argon2id; null for who signs in otherwise. */
        password: personal(nullable(Type.String())),
        held: Type.Array(Held),
        /** Worked for after signing in: the one that is founded, or one that has invited. */
        merchant: nullable(Uuid),
        founded: nullable(Founded),
      }),
    ),
  ),
  UserHoldAbandoned: stored(1, record({ hold: Type.String() })),
  UserEmailVerificationRequested: stored(1, Link),
  UserEmailVerified: stored(1, record({})),
  UserPasswordResetRequested: stored(1, Link),
  UserMagicLinkRequested: stored(1, Link),
  UserMagicLinkUsed: stored(1, record({ link: Uuid })),
  UserPasswordChanged: sealedFor(
    aboutUser,
    stored(
      1,
      record({
        password: personal(Type.String()),
        /** The session that changed it goes on; null where a mailed link did. */
        session: nullable(Uuid),
      }),
    ),
  ),
  /** By who has the mailbox, without showing to be who had set it. */
  UserPasswordRemoved: stored(1, record({})),
  /** By who has the mailbox, from who never showed to have it: what that one knew is worth nothing. */
  UserTakenOver: stored(1, record({})),
  /** Worked for after signing in, from now on. */
  UserDefaultMerchantChosen: stored(1, record({ merchant: Uuid })),
  /** The mail with this link is with the mail server, or will never be taken by it. */
  UserLinkMailed: stored(2, record({ purpose: literals(...linkPurposes), link: Uuid }), { 1: asItWas }),
}

export type UserEvents = EventsOf<typeof userEvents>
