import { refuse } from '../../../packages/contract/refusals.ts'
import { record, Type } from '../../../packages/contract/vocabulary.ts'
import type { Decider } from '../../../packages/kernel/decider.ts'
import { stored, type EventsOf } from '../../../packages/kernel/event-types.ts'
import type { UserOwner } from '../../../packages/kernel/owner.ts'
import { policy, to } from '../../../packages/kernel/policy.ts'
import { projection } from '../../../packages/kernel/projection.ts'

/** The smallest possible family: a diary takes notes, and a tally with the same id counts them. */
const noteEvents = { NoteTaken: stored(1, record({ number: Type.Integer() })) }
export type NoteEvents = EventsOf<typeof noteEvents>
const tallyEvents = { NoteCounted: stored(1, record({ number: Type.Integer() })) }
export type TallyEvents = EventsOf<typeof tallyEvents>

export const diary: Decider<object, { TakeNote: { number: number } }, NoteEvents> = {
  category: 'diary',
  events: noteEvents,
  initial: () => ({}),
  decide: { TakeNote: ({ number }) => [{ type: 'NoteTaken', data: { number } }] },
  evolve: { NoteTaken: (state) => state },
}

/** Notes that are poisonous to a consumer until they are mended. */
export const poisoned = new Set<string>()

function isPoison(id: string, number: number): boolean {
  return number === 1 && poisoned.has(id)
}

export function taste(id: string, number: number): void {
  if (isPoison(id, number)) throw new Error(`${id} is poisoned`)
}

export const tally: Decider<{ numbers: number[] }, { CountNote: { number: number } }, TallyEvents> = {
  category: 'tally',
  events: tallyEvents,
  initial: () => ({ numbers: [] }),
  decide: {
    CountNote({ number }, { numbers }, { id }) {
      if (numbers.includes(number)) return []
      if (isPoison(id, number)) refuse('resource_must_not_exist_yet')
      return [{ type: 'NoteCounted', data: { number } }]
    },
  },
  evolve: { NoteCounted: ({ numbers }, { number }) => ({ numbers: [...numbers, number] }) },
}

/** What a policy counts for somebody else: one tally for each user, of whatever diaries the user has. */
export const sharedTally: Decider<
  { numbers: number[] },
  { CountNote: { number: number } },
  TallyEvents,
  UserOwner
> = {
  category: 'shared_tally',
  owners: ['user'],
  events: tallyEvents,
  initial: () => ({ numbers: [] }),
  decide: {
    CountNote: ({ number }, { numbers }) =>
      numbers.includes(number) ? [] : [{ type: 'NoteCounted', data: { number } }],
  },
  evolve: { NoteCounted: ({ numbers }, { number }) => ({ numbers: [...numbers, number] }) },
}

/** Whose diary it is, and whether that cannot be told now. */
export const readers = new Map<string, string | Error>()

function readerOf(id: string): string {
  const reader = readers.get(id)
  if (reader === undefined || reader instanceof Error) throw reader ?? new Error(`nobody reads ${id}`)
  return reader
}

/** The diary is a merchant's, the tally a user's. */
export const countingForReaders = policy<NoteEvents>(
  'counting_for_readers',
  {
    NoteTaken: ({ id, data }) => {
      taste(id, data.number)
      return [to(sharedTally, readerOf(id), { type: 'CountNote', data })]
    },
  },
  ({ id }) => ({ user: readerOf(id) }),
)

/** A read model of notes; `numberOf` may throw, or return a value that fits no column. */
function notesOf(numberOf: (id: string, number: number) => number) {
  return projection<NoteEvents>()({
    name: 'notes',
    version: 1,
    columns: { diary: 'text', number: 'integer', place: 'bigint' },
    key: ['diary', 'number'],
    indexes: [],
    on: {
      NoteTaken: ({ id, data: { number } }) => [
        { put: { diary: id, number: numberOf(id, number), place: ++places } },
      ],
    },
  })
}

/** The order in which rows were created. */
let places = 0

export const notesOfThrowing = notesOf((id, number) => {
  taste(id, number)
  return number
})
export const notesOutOfRange = notesOf((id, number) => (isPoison(id, number) ? 2 ** 40 : number))

export const counting = policy<NoteEvents>('counting', {
  NoteTaken: ({ id, data }) => [to(tally, id, { type: 'CountNote', data })],
})

/** Here the tally accepts everything: it has another id, which is never poisoned. */
export const countingElsewhere = policy<NoteEvents>('counting_elsewhere', {
  NoteTaken: ({ id, data }) => {
    taste(id, data.number)
    return [to(tally, `all ${id}`, { type: 'CountNote', data })]
  },
})
