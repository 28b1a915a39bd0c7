import { record, Type } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

export const indexKeyEvents = {
  IndexKeyMade: stored(1, record({ sealed: Type.String() })),
  /** The same key, sealed with another master key. */
  IndexKeyResealed: stored(1, record({ sealed: Type.String() })),
}

export type IndexKeyEvents = EventsOf<typeof indexKeyEvents>

/** Turns values into names that do not reveal them. It never changes, or nothing would be found again. */
export type IndexKey = { readonly sealed: string | null }

export type IndexKeyCommands = {
  /** Decides nothing when there is one. */
  MakeIndexKey: { sealed: string }
  /** `from` is the key that was opened: another process may have been faster. */
  ResealIndexKey: { from: string; sealed: string }
}

export const indexKey: Decider<IndexKey, IndexKeyCommands, IndexKeyEvents> = {
  category: 'index_key',
  events: indexKeyEvents,
  initial: () => ({ sealed: null }),

  decide: {
    MakeIndexKey: ({ sealed }, state) => (state.sealed ? [] : [{ type: 'IndexKeyMade', data: { sealed } }]),
    ResealIndexKey: ({ from, sealed }, state) =>
      state.sealed === from ? [{ type: 'IndexKeyResealed', data: { sealed } }] : [],
  },

  evolve: {
    IndexKeyMade: (_, { sealed }) => ({ sealed }),
    IndexKeyResealed: (_, { sealed }) => ({ sealed }),
  },
}

/** The whole service has one. */
export const indexKeyId = '00000000-0000-0000-0000-000000000000'
export const indexKeyContext = 'index key'
