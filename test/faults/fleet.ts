import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { ServiceApart, type ServiceName } from '../support/processes/service-apart.ts'
import { Ends, type Ending } from '../support/processes/ending.ts'

export const led = ['projector', 'processes', 'relay'] as const
export const services = ['api', ...led, 'webhooks'] as const
export type Service = (typeof services)[number]

export interface FleetOptions {
  readonly environment: Readonly<Record<string, string>>
  /** The connection string of a process; Postgres knows by its name who has written. */
  readonly postgresUrl: string
  /** Another program for one of the services, named from `test/support`. */
  readonly files?: Readonly<Partial<Record<Service, string>>>
}

const copies = 2
const restartMs = 200
const patienceMs = 60_000

/** Two of each service. Whoever is gone is replaced by another, with another name. */
export class Fleet {
  /** What those said who ended by themselves. */
  readonly casualties: string[] = []
  readonly #ends = new Ends()
  readonly #options: FleetOptions
  readonly #kept: Promise<void>[] = []
  readonly #running = new Map<Service, ServiceApart[]>()
  readonly #addresses = new Map<ServiceApart, string>()
  #stopped = false
  #started = 0

  constructor(ending: Ending, options: FleetOptions) {
    this.#options = options
    ending.teardown(() => this.#end())
  }

  async start(): Promise<void> {
    for (const service of services) {
      this.#running.set(service, [])
      for (let copy = 0; copy < copies; copy++) this.#kept.push(this.#keep(service))
    }
    for (const service of services) await this.complete(service)
  }

  /** Where those processes of the API listen that have said so. */
  readonly addresses = (): readonly string[] => [...this.#addresses.values()]

  copies(service: Service): readonly ServiceApart[] {
    return this.#running.get(service) ?? []
  }

  /** Resolves when two of this service are ready. */
  async complete(service: Service): Promise<void> {
    const ready = async () => {
      const running = this.copies(service)
      if (running.length < copies) return false
      const ports = running.map((one) => one.port().then(isThere, isGone))
      return (await Promise.all(ports)).every(Boolean)
    }
    await eventually(ready, Boolean, patienceMs)
  }

  /** The one that leads, or any one of a service that nobody leads. */
  async foremost(service: Service): Promise<ServiceApart> {
    if (service === 'api' || service === 'webhooks') return this.copies(service)[0]!
    const leader = async () => {
      const leads = await Promise.all(this.copies(service).map((one) => leadsSurely(one)))
      return this.copies(service).find((_, index) => leads[index])
    }
    return (await eventually(leader, (found) => found !== undefined, patienceMs))!
  }

  /** Waits until another one than this leads its service, and answers which. */
  async successorOf(deposed: ServiceApart): Promise<ServiceApart> {
    const others = () => this.copies(deposed.name as Service).filter((one) => one !== deposed)
    const leader = async () => {
      const candidates = others()
      const leads = await Promise.all(candidates.map((one) => leadsSurely(one)))
      return candidates.find((_, index) => leads[index])
    }
    return (await eventually(leader, (found) => found !== undefined, patienceMs))!
  }

  /** Nobody is replaced any more when the first of them is ended. */
  async #end(): Promise<void> {
    this.#stopped = true
    await this.#ends.run()
    await Promise.all(this.#kept)
  }

  async #keep(service: Service): Promise<void> {
    while (!this.#stopped) {
      const one = this.#begin(service)
      const running = this.#running.get(service)!
      running.push(one)
      if (service === 'api')
        one.port().then((port) => this.#addresses.set(one, `http://127.0.0.1:${port}`), isGone)
      const code = await one.ended
      running.splice(running.indexOf(one), 1)
      this.#addresses.delete(one)
      if (code !== null && !this.#stopped) this.casualties.push(`${one.instance}: ${one.errors.trim()}`)
      if (!this.#stopped) await pause(restartMs)
    }
  }

  #begin(service: Service): ServiceApart {
    const { environment, postgresUrl, files = {} } = this.#options
    const instance = `${service}-${++this.#started}`
    const url = new URL(postgresUrl)
    url.searchParams.set('application_name', instance)
    const settings = { ...environment, POSTGRES_URL: url.href, INSTANCE: instance }
    const file = files[service]
    return new ServiceApart(this.#ends, service as ServiceName, settings, { ...(file && { file }) })
  }
}

function isThere(): boolean {
  return true
}

function isGone(): boolean {
  return false
}

/** Who does not answer leads nothing that anybody could count on. */
function leadsSurely(service: ServiceApart): Promise<boolean> {
  return Promise.race([service.leads().catch(() => false), pause(1_000, false)])
}
