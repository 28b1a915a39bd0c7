import { record, Type } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import type { PlatformOwner } from '../../kernel/owner.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

export const logKeyEvents = {
  /** A note, signed by the key that was in use: from here on the key that it names signs the log too. */
  LogKeyAnnounced: stored(1, record({ note: Type.String() })),
}

export type LogKeyEvents = EventsOf<typeof logKeyEvents>
export type LogKey = { readonly announced: readonly string[] }
export type LogKeyCommands = { AnnounceLogKey: { note: string } }

/** The keys that sign the log, each announced by the one before it: docs/audit.md. */
export const logKey: Decider<LogKey, LogKeyCommands, LogKeyEvents, PlatformOwner> = {
  category: 'log_key',
  owners: ['platform'],
  events: logKeyEvents,
  initial: () => ({ announced: [] }),

  decide: {
    AnnounceLogKey: ({ note }, { announced }) =>
      announced.includes(note) ? [] : [{ type: 'LogKeyAnnounced', data: { note } }],
  },

  evolve: {
    LogKeyAnnounced: ({ announced }, { note }) => ({ announced: [...announced, note] }),
  },
}

/** There is one for the whole service. */
export const logKeyId = '00000000-0000-0000-0000-000000000000'
