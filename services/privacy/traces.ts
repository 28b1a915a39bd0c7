import { holderOf } from '../../packages/contract/payments/holders.ts'
import { deciders, storedTypes } from '../../packages/domain/index.ts'
import { categoryOf } from '../../packages/kernel/decider.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import { owns } from '../../packages/kernel/owner.ts'
import { part, textsIn } from '../../packages/kernel/personal.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { RailMethod } from '../../packages/kernel/ports/rails.ts'
import type { Person } from './person.ts'
import { Wallets, type Wallet } from './wallets.ts'

/** An event that tells something about the person. */
export interface Trace {
  readonly event: RecordedEvent
  readonly subject: string
  readonly texts: readonly string[]
  /** Metadata was personal. */
  readonly maps: boolean
  /** Written before events were sealed: what it says cannot be erased. */
  readonly isClear: boolean
}

export interface Traces {
  /** All names of the person. */
  readonly person: Person
  readonly traces: readonly Trace[]
  /** What else is about the person, and says nothing personal. */
  readonly plain: readonly Pick<Trace, 'event' | 'subject'>[]
  /** With the person's own money in them. */
  readonly wallets: readonly Wallet[]
}

type Store = Pick<EventStore, 'readOn'>

const byCategory = new Map(deciders.map((decider) => [decider.category, decider]))

/**
 * Everything in the log about a person: read twice, for a name by which the person is known may have been
 * used before it was learned.
 */
export async function tracesOf(store: Store, person: Person): Promise<Traces> {
  const names = new Names(person)
  for await (const event of eventsOf(store, person)) names.learn(event)
  const seeker = new Seeker(names)
  for await (const event of eventsOf(store, person)) seeker.look(event)
  return seeker.found(person)
}

async function* eventsOf(store: Store, { owner }: Person): AsyncGenerator<RecordedEvent, void> {
  for await (const events of store.readOn(0)) {
    for (const stored of events) {
      const decider = owns(stored.metadata, owner) ? byCategory.get(categoryOf(stored.stream)) : undefined
      if (decider) yield recordedEvent(decider, stored)
    }
  }
}

interface Told {
  readonly customer?: string | null
  readonly phone?: string | null
  readonly method?: RailMethod
}

/** A customer is also known by the numbers that pay for their intents, and a number by its customer. */
class Names {
  readonly certain: Set<string>
  /** Numbers that have paid for the person: another customer's are not the person's. */
  readonly likely = new Set<string>()
  readonly #intents = new Set<string>()

  constructor({ subjects }: Person) {
    this.certain = new Set(subjects)
  }

  learn({ type, id, data }: RecordedEvent): void {
    const { customer, phone, method } = data as Told
    if (type === 'CustomerCreated' || type === 'CustomerContactAdded') this.#learnContact(id, phone)
    if (type === 'CustomerContactLinked' && this.certain.has(`customer/${customer}`))
      this.certain.add(`customer/${id}`)
    if (type === 'PaymentIntentCreated' && this.certain.has(`customer/${customer}`)) {
      this.#intents.add(id)
      this.certain.add(`payment_intent/${id}`)
    }
    if (type === 'PaymentIntentConfirmationStarted' && this.#intents.has(id)) {
      const holder = holderOf(method!)
      if (holder !== undefined && !this.certain.has(holder)) this.likely.add(holder)
    }
  }

  #learnContact(id: string, phone: string | null | undefined): void {
    const [own, contact] = [`customer/${id}`, `contact/${phone}`]
    if (!phone || !(this.certain.has(own) || this.certain.has(contact))) return
    this.certain.add(own).add(contact)
  }
}

/** Finds what is sealed for the person, and what was written about the resources that this is in. */
class Seeker {
  readonly #names: Names
  /** Subjects by the name that leads to them. */
  readonly #leads = new Map<string, string>()
  readonly #ids = new Map<string, string>()
  readonly #traces: Trace[] = []
  readonly #plain: Pick<Trace, 'event' | 'subject'>[] = []
  readonly #wallets: Wallets

  constructor(names: Names) {
    this.#names = names
    this.#wallets = new Wallets(names.certain)
    for (const name of [...names.certain, ...names.likely]) this.#leads.set(name, name)
  }

  look(event: RecordedEvent): void {
    const { type, id, category, data, metadata } = event
    const { phone } = data as Told
    if (category === 'customer' && phone && !this.#names.certain.has(`customer/${id}`))
      this.#names.likely.delete(`contact/${phone}`)
    this.#follow(event)
    this.#wallets.look(event)
    const { sealing } = storedTypes[type]!
    const subject = sealing?.subjectOf(data as never, id)
    if (!sealing || subject === undefined || !this.#leads.has(subject)) return
    const { personal } = part(sealing.fields, data as Record<string, unknown>)
    if (!personal) {
      this.#plain.push({ event, subject })
      return
    }
    const { texts, maps } = textsIn(sealing.fields, personal)
    this.#traces.push({ event, subject, texts, maps, isClear: metadata.sealed === undefined })
    this.#lead(`${category}/${id}`, subject)
    this.#ids.set(id, subject)
  }

  /** Cases and interventions name what they are about. */
  #follow({ type, id, category, data }: RecordedEvent): void {
    const { subject } = data as { readonly subject?: string | { readonly id: string } }
    const about = typeof subject === 'string' ? uuidOf(subject) : subject?.id
    const lead = about === undefined ? undefined : this.#ids.get(about)
    if (lead !== undefined && (type === 'CaseOpened' || category === 'intervention'))
      this.#lead(`${category}/${id}`, lead)
  }

  #lead(subject: string, from: string): void {
    if (!this.#leads.has(subject)) this.#leads.set(subject, this.#leads.get(from)!)
  }

  found({ owner }: Person): Traces {
    const { certain, likely } = this.#names
    const isTheirs = (subject: string) => {
      const lead = this.#leads.get(subject)!
      return certain.has(lead) || likely.has(lead)
    }
    const subjects = [...this.#leads.keys()].filter(isTheirs)
    const [traces, plain] = [this.#traces, this.#plain] as const
    return {
      person: { owner, subjects },
      traces: traces.filter(({ subject }) => isTheirs(subject)),
      plain: plain.filter(({ subject }) => isTheirs(subject)),
      wallets: this.#wallets.full,
    }
  }
}

/** Of a public id. */
function uuidOf(id: string): string {
  return id.slice(id.lastIndexOf('_') + 1).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
