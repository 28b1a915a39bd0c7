import type { Snapshots } from '../../packages/kernel/ports.ts'
import type { SimulatedBus } from './engines/bus.ts'
import type { Notebook } from './consumers.ts'
import type { SimulatedDatabase } from './engines/database.ts'
import type { SendingWitness } from './engines/executor.ts'
import type { SimulatedAnswers } from './clients/answers.ts'
import type { SimulatedRail } from './engines/rail.ts'
import type { Stage } from './stage.ts'
import type { SimulatedLog } from './engines/store.ts'

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
