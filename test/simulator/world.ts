import { streamName } from '../../packages/kernel/decider.ts'
import type { Snapshots, StoredEvent } from '../../packages/kernel/ports.ts'
import { SimulatedBus } from './engines/bus.ts'
import { Notebook } from './consumers.ts'
import { SimulatedDatabase } from './engines/database.ts'
import type { SendingWitness } from './engines/executor.ts'
import { SimulatedAnswers } from './clients/answers.ts'
import { simulatedSnapshots } from './dependencies.ts'
import { roles, type Role } from './leaders.ts'
import { LedgerLaws } from './laws/ledger-laws.ts'
import { CheckoutLaws } from './laws/checkout-laws.ts'
import { callers, Merchants } from './clients/merchants.ts'
import { Payers } from './clients/payers.ts'
import { SimulatedProcess } from './process.ts'
import { SimulatedRail } from './engines/rail.ts'
import type { Scheduler } from './scheduler.ts'
import type { Mistake, Stage } from './stage.ts'
import { SimulatedLog } from './engines/store.ts'
import type { Surroundings } from './surroundings.ts'
import { StreamLaws } from './laws/stream-laws.ts'
import { SimulatedLeader } from './engines/leader.ts'

export interface Violation {
  readonly law: string
  readonly fact: string
}

export interface WorldOptions {
  readonly scheduler: Scheduler
  readonly mistake: Mistake | undefined
  /** Told what happens, when somebody wants to read it. */
  readonly tell: ((line: string) => void) | undefined
}

/** One service as several processes, with everything around it and the laws that look on. */
export class World implements Surroundings {
  readonly stage: Stage
  readonly log: SimulatedLog
  readonly database = new SimulatedDatabase()
  readonly notebook: Notebook
  readonly rail: SimulatedRail
  readonly bus: SimulatedBus
  readonly answers: SimulatedAnswers
  readonly snapshots: Snapshots = simulatedSnapshots()
  readonly ledger: LedgerLaws
  readonly streams: StreamLaws
  readonly checkout: CheckoutLaws
  readonly merchants: Merchants
  readonly payers: Payers
  readonly apis: readonly SimulatedProcess[]
  readonly workers: readonly SimulatedProcess[]
  readonly leaderships: Readonly<Record<Role, SimulatedLeader>>
  violation: Violation | undefined
  #ids = 0

  constructor({ scheduler, mistake, tell }: WorldOptions) {
    const violate = (law: string, fact: string) => void (this.violation ??= { law, fact })
    const note = (line: () => string) => tell?.(line())
    this.stage = { scheduler, mistake, newId: () => this.#newId(), violate, note }
    this.ledger = new LedgerLaws(violate)
    this.streams = new StreamLaws(violate)
    this.checkout = new CheckoutLaws(violate)
    this.log = new SimulatedLog(this.stage, (event) => this.#committed(event))
    this.notebook = new Notebook(this.stage)
    this.rail = new SimulatedRail(this.stage, this.streams)
    this.bus = new SimulatedBus(this.stage)
    this.answers = new SimulatedAnswers(scheduler)
    this.apis = [new SimulatedProcess('api 1', this), new SimulatedProcess('api 2', this)]
    this.workers = [new SimulatedProcess('worker 1', this), new SimulatedProcess('worker 2', this)]
    this.leaderships = {
      processes: new SimulatedLeader('processes'),
      projector: new SimulatedLeader('projector'),
      relay: new SimulatedLeader('relay'),
    }
    this.merchants = new Merchants(this)
    this.payers = new Payers(this, callers[0]!)
    for (const { merchant, livemode } of callers) if (!livemode) this.#register(merchant)
  }

  get sendings(): SendingWitness {
    return this.streams
  }

  anyApi(): SimulatedProcess {
    return this.stage.scheduler.random.pick(this.apis)
  }

  /** Whoever is alive takes the roles that are free. */
  elect(): void {
    for (const role of roles) {
      const leadership = this.leaderships[role]
      if (!leadership.leader) leadership.elect(this.stage.scheduler.random.pick(this.workers))
    }
  }

  depose(): void {
    const { random } = this.stage.scheduler
    const leadership = this.leaderships[random.pick(roles)]
    const next = random.pick(this.workers)
    this.stage.note(
      () => `${next.name} takes over as ${leadership.role} from ${leadership.leader?.name ?? 'nobody'}`,
    )
    leadership.elect(next)
  }

  crash(): void {
    const { random } = this.stage.scheduler
    const process = random.pick(random.chance(0.7) ? this.workers : this.apis)
    this.stage.note(() => `${process.name} is killed`)
    process.crash()
    for (const role of roles) if (this.leaderships[role].leader === process) this.leaderships[role].vacate()
  }

  #committed(event: StoredEvent): void {
    const { stream, revision, type, metadata } = event
    this.stage.note(() => `  + ${stream} ${revision} ${type} by ${metadata.actor}`)
    this.ledger.onCommit(event)
    this.streams.onCommit(event)
    this.checkout.onCommit(event)
  }

  /** Whoever collects payments by sessions has a name, a country and a currency. */
  #register(merchant: string): void {
    const data = { name: 'Boutique', country: 'SN', currency: 'XOF', email: 'boutique@example.com' }
    const at = this.stage.scheduler.clock().toISOString()
    const metadata = { merchant, livemode: false, at, actor: 'staff', correlation: 'registered', version: 2 }
    const event = { id: this.#newId(), type: 'MerchantCreated', data, metadata }
    this.log.commit({ stream: streamName('merchant', merchant), expected: -1, events: [event] })
  }

  #newId(): string {
    return `00000000-0000-7000-8000-${(++this.#ids).toString(16).padStart(12, '0')}`
  }
}
