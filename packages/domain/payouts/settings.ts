import { derivedId } from '../../contract/identity.ts'
import { StoredRecurrence } from '../../contract/recurrence.ts'
import {
  CountMinor,
  Currency,
  nullable,
  record,
  Timestamp,
  Type,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Context, Decider, Message } from '../../kernel/decider.ts'
import { stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'
import {
  duePayoutRun,
  duePayoutRuns,
  Frequency,
  nextPayoutRun,
  scheduleFrom,
  type Timetable,
} from './schedule.ts'

// Events

const choices = {
  frequency: Frequency,
  keepMinimumBalance: Type.Boolean(),
  minimumBalance: CountMinor,
  /** Null: the merchant's own currency. */
  minimumBalanceCurrency: nullable(Currency),
  defaultDestination: nullable(Type.String()),
}

const nextRunAt = nullable(Timestamp)

interface FirstFormat {
  readonly frequency: Frequency
  readonly at: string
}

/** Each revision restarted the schedule, and runs were not recorded. */
function withSchedule(old: Record<string, never>): object {
  const { frequency, at } = old as object as FirstFormat
  const recurrence = scheduleFrom(frequency, new Date(at))
  const timetable = { recurrence, overdue: [], notesRuns: false, nextRunAt: recurrence?.anchor ?? null }
  return { ...withoutStamp(old), minimumBalanceCurrency: null, ...timetable }
}

export const payoutSettingsEvents = {
  PayoutSettingsRevised: stored(
    2,
    record({
      ...choices,
      recurrence: nullable(StoredRecurrence),
      overdue: Type.Array(Timestamp),
      notesRuns: Type.Boolean(),
      nextRunAt,
    }),
    { 1: withSchedule },
  ),
  /** A scheduled run is done: it made this payout, or says why there is none. */
  ScheduledPayoutRun: stored(
    1,
    record({ dueAt: Timestamp, payout: nullable(Uuid), skipped: nullable(Type.String()), nextRunAt }),
  ),
}

export type PayoutSettingsEvents = EventsOf<typeof payoutSettingsEvents>

// State

const Choices = record(choices)
type Choices = Static<typeof Choices>

/** The times are null for a merchant who has never set anything. */
export interface PayoutSettings extends Readonly<Choices>, Timetable {
  readonly createdAt: string | null
  readonly revisedAt: string | null
}

// Decisions

export type PayoutSettingsCommands = {
  /** The sender has checked that the default destination is usable. */
  RevisePayoutSettings: Partial<Choices>
  /** A destination was saved as the default at that time; a later choice of the merchant outweighs it. */
  AdoptDefaultDestination: { destination: string; savedAt: string }
  ForgetDestination: { destination: string }
  NoteScheduledRun: { dueAt: string } & ({ payout: string } | { skipped: string })
}

/** Runs are recorded every day. */
const eventsPerSnapshot = 200

export const payoutSettings: Decider<PayoutSettings, PayoutSettingsCommands, PayoutSettingsEvents> = {
  category: 'payout_settings',
  events: payoutSettingsEvents,
  snapshot: { version: 1, every: () => eventsPerSnapshot },
  initial: () => ({
    frequency: 'manual',
    keepMinimumBalance: false,
    minimumBalance: 0,
    minimumBalanceCurrency: null,
    defaultDestination: null,
    recurrence: null,
    overdue: [],
    ranThrough: null,
    notesRuns: true,
    createdAt: null,
    revisedAt: null,
  }),

  decide: {
    RevisePayoutSettings: (revision, state, context) => revised(state, revision, context),

    AdoptDefaultDestination({ destination, savedAt }, state, context) {
      if (state.revisedAt !== null && state.revisedAt >= savedAt) return []
      return revised(state, { defaultDestination: destination }, context)
    },

    ForgetDestination({ destination }, state, context) {
      if (state.defaultDestination !== destination) return []
      return revised(state, { defaultDestination: null }, context)
    },

    NoteScheduledRun({ dueAt, ...result }, state, { now }) {
      // A repeat, or the merchant has turned the schedule off meanwhile.
      if (duePayoutRun(state, now) !== dueAt) return []
      const payout = 'payout' in result ? result.payout : null
      const skipped = 'skipped' in result ? result.skipped : null
      const next = nextPayoutRun(afterRun(state, dueAt))
      const data = { dueAt, payout, skipped, nextRunAt: next }
      return [{ type: 'ScheduledPayoutRun', data }]
    },
  },

  evolve: {
    PayoutSettingsRevised: ({ createdAt, ranThrough }, { nextRunAt: _next, ...chosen }, { at }) => ({
      ...chosen,
      ranThrough,
      createdAt: createdAt ?? at,
      revisedAt: at,
    }),
    ScheduledPayoutRun: (state, { dueAt }) => ({ ...state, ...afterRun(state, dueAt) }),
  },
}

const settingsIds = '5d1b4a1e-0a0c-5e0f-8d53-7c6f0d2b9e41'

/** One stream per merchant and environment. */
export function payoutSettingsId({ merchant, livemode }: MerchantOwner): string {
  return derivedId(settingsIds, `${merchant} ${livemode}`)
}

function revised(state: PayoutSettings, revision: Partial<Choices>, { now }: Context) {
  const next = { ...chosenIn(state), ...revision }
  if (Object.entries(next).every(([name, value]) => state[name as keyof Choices] === value)) return []
  const timetable = timetableAfter(state, next.frequency, now)
  const { recurrence, overdue, notesRuns } = timetable
  const event: Message<PayoutSettingsEvents> = {
    type: 'PayoutSettingsRevised',
    data: {
      ...next,
      recurrence,
      overdue: [...overdue],
      notesRuns,
      nextRunAt: nextPayoutRun(timetable),
    },
  }
  return [event]
}

function chosenIn(state: PayoutSettings): Choices {
  const { frequency, keepMinimumBalance, minimumBalance, minimumBalanceCurrency, defaultDestination } = state
  return { frequency, keepMinimumBalance, minimumBalance, minimumBalanceCurrency, defaultDestination }
}

/** A new frequency starts now; runs due before are still owed, unless the schedule is turned off. */
function timetableAfter(state: PayoutSettings, frequency: Frequency, now: Date): Timetable {
  const { recurrence, overdue, ranThrough, notesRuns } = state
  if (frequency === state.frequency) return { recurrence, overdue, ranThrough, notesRuns }
  const owed = frequency === 'manual' ? [] : duePayoutRuns(state, now)
  return { recurrence: scheduleFrom(frequency, now), overdue: owed, ranThrough, notesRuns: true }
}

function afterRun({ recurrence, overdue, ranThrough }: Timetable, dueAt: string): Timetable {
  const isLater = ranThrough === null || dueAt > ranThrough
  return {
    recurrence,
    overdue: overdue.filter((run) => run > dueAt),
    ranThrough: isLater ? dueAt : ranThrough,
    notesRuns: true,
  }
}
