import { lastCheckpoint } from '../../../infra/postgres/transparency/tree-store.ts'
import { upkeepAges } from '../../../infra/postgres/upkeep.ts'
import { waitingTimers, type WaitingTimers } from '../../../infra/postgres/waiting-timers.ts'
import { cached } from '../../composition/cached.ts'
import type { Runtime } from '../../composition/dependencies.ts'

/** Alerts on them take minutes, so they need not be newer than a scrape. */
const keptMs = 10_000

type Measure = Exclude<keyof WaitingTimers, 'livemode'>

const measures: Readonly<Record<Measure, readonly [name: string, help: string]>> = {
  lagSeconds: ['timer_lag_seconds', 'How late the oldest timer is that should have been run by now'],
  clearingSeconds: [
    'clearing_age_seconds',
    'How long the oldest payout is overdue for its first word since an operator has it',
  ],
  suspenseSeconds: [
    'suspense_age_seconds',
    'How long the oldest payment that came too late is overdue to be given back',
  ],
  payoutsDelayed: ['payouts_delayed', 'Payouts under way that are later than expected; up to 100,000'],
}

/** What operators must know about waiting money, and about scheduled tasks. */
export function observeMoney({ health: { metrics }, postgres: { watching }, dependencies }: Runtime): void {
  const { clock } = dependencies
  const waiting = cached(() => waitingTimers(watching, clock()), keptMs)
  for (const [measure, [name, help]] of Object.entries(measures)) {
    const read = async () => {
      const rows = await waiting()
      return Object.fromEntries(rows.map((row) => [environmentOf(row), row[measure as Measure]]))
    }
    metrics.gauges(name, help, { label: 'environment', read })
  }
  metrics.gauges('upkeep_age_seconds', 'Since the last backup, and the last verification without fault', {
    label: 'task',
    read: cached(() => upkeepAges(watching, clock()), keptMs),
  })
  metrics.gauge('notarised_position', 'Position of the newest event that the notary has signed', async () => {
    return (await lastCheckpoint(watching))?.position ?? 0
  })
}

function environmentOf({ livemode }: WaitingTimers): string {
  return livemode ? 'live' : 'sandbox'
}
