import type { Snapshots } from '../../packages/kernel/ports.ts'
import type { SimulatedBus } from './bus.ts'
import type { Notebook } from './consumers.ts'
import type { SimulatedDatabase } from './database.ts'
import type { SendingWitness } from './executor.ts'
import type { SimulatedAnswers } from './answers.ts'
import type { SimulatedRail } from './rail.ts'
import type { Stage } from './stage.ts'
import type { SimulatedLog } from './store.ts'

/** What all processes of one world share: everything outside of their memory. */
export interface Surroundings {
  readonly stage: Stage
  readonly log: SimulatedLog
  readonly database: SimulatedDatabase
  readonly notebook: Notebook
  readonly rail: SimulatedRail
  readonly bus: SimulatedBus
  readonly answers: SimulatedAnswers
  readonly snapshots: Snapshots
  readonly sendings: SendingWitness
}
