import { derivedId } from '../../../packages/contract/identity.ts'
import { Refusal } from '../../../packages/contract/refusals.ts'
import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import { Executor } from '../../../packages/kernel/execution/execute.ts'
import type { EventStore } from '../../../packages/kernel/ports.ts'
import { simulatedSnapshots } from '../../simulator/dependencies.ts'
import { nobody, Scheduler } from '../../simulator/scheduler.ts'
import { SimulatedLog, SimulatedStore } from '../../simulator/engines/store.ts'
import { calm } from '../../simulator/engines/faults.ts'
import { holdOf } from '../ledger/ledger-commands.ts'

const merchant = '00000000-0000-7000-8000-00000000000a'
export const envelope = { merchant, livemode: false, actor: 'key:a', correlation: 'a test' }
export const id = bookId(merchant, false, 'XOF')

export const topUp = (name: string, amount: number) => {
  const subject = { type: 'topup', id: derivedId(merchant, name) }
  return { type: 'PostEntry', data: { template: 'sandbox.topup', subject, amount } } as const
}

export const hold = (name: string, amount: number) => {
  const subject = { type: 'payout', id: derivedId(merchant, name) }
  return { type: 'PlaceHold', data: holdOf({ template: 'payout.hold', subject, amount }) } as const
}

/** A log in memory with snapshots, and processes that share them. */
export function openLog() {
  let ids = 0
  const newId = () => `00000000-0000-7000-8000-${String(++ids).padStart(12, '0')}`
  const scheduler = new Scheduler(1, { ...calm, instant: 1 })
  const stage = { scheduler, mistake: undefined, newId, violate: () => undefined, note: () => undefined }
  const log = new SimulatedLog(stage, () => undefined)
  const store = new SimulatedStore(log, stage, nobody)
  const snapshots = simulatedSnapshots()
  /** Its appends go to the store, or to whatever is put in front of it. */
  const process = (append?: EventStore['append']) => {
    return new Executor({
      store: append ? Object.assign(new SimulatedStore(log, stage, nobody), { append }) : store,
      snapshots,
      clock: scheduler.clock,
      newId,
      newSalt: newId,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      refuse: {
        notFound: () => new Refusal('resource_must_exist'),
        changedMeanwhile: () => new Refusal('resource_must_not_have_changed'),
        otherRevision: () => new Refusal('resource_must_be_as_it_was_seen'),
        overloaded: () => new Refusal('service_must_not_be_overloaded'),
      },
      pause: async () => undefined,
    })
  }
  return { log, store, snapshots, process }
}
