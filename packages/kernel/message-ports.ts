import type { MerchantOwner } from './owner.ts'
import type { Subscription } from './ports.ts'

/** Ports of what merchants are told: public events and the bus that carries them. */

/** A public event as the merchant gets it; `payload` holds the exact bytes of the webhook body. */
export interface PublicEvent {
  /** `evt_` and 32 hex digits. */
  readonly id: string
  readonly type: string
  readonly merchant: string
  readonly livemode: boolean
  /** `payout/<uuid>`: messages of one resource stay in order. */
  readonly resource: string
  /** Its place among all events of its merchant and environment: only grows, also where it is told late. */
  readonly sequence: number
  /** Of the event in the log. Nobody outside is told. */
  readonly position: number
  readonly payload: string
  /** W3C: what caused it. Carried beside the event, never told to merchants in it. */
  readonly traceparent?: string
}

/** Events that an endpoint may be sent again, when it is asked for all that it missed. */
export interface MissedEvents {
  /** UUID. */
  readonly endpoint: string
  readonly merchant: string
  readonly livemode: boolean
  readonly types: readonly string[]
  /** RFC 3339. */
  readonly since: string
  /** Only events behind this position of the log: the endpoint's registration. */
  readonly after: number
  readonly through: number
}

/** All public events that were ever made, whether an endpoint got them or not. */
export interface PublicEvents {
  /** An event of this merchant and environment. */
  find(id: string, owner: Pick<PublicEvent, 'merchant' | 'livemode'>): Promise<PublicEvent | undefined>
  countMissed(missed: MissedEvents): Promise<number>
  /** Where an event was sent and what came of it, replays among them; the newest first, at most 100. */
  deliveries(id: string, owner: MerchantOwner): Promise<readonly EventDelivery[]>
  /** The next events of a merchant and environment behind a sequence, oldest first. */
  feed(query: FeedQuery): Promise<readonly PublicEvent[]>
}

/** What became of one event at one endpoint. */
export interface EventDelivery {
  /** UUID. */
  readonly endpoint: string
  readonly status: 'pending' | 'succeeded' | 'failed' | 'skipped'
  readonly attempts: number
  readonly isReplay: boolean
  /** When the next attempt is due; null when there is none, or it waits only for those before it. */
  readonly dueAt: string | null
  readonly lastAttemptAt: string | null
  /** Null when no HTTP answer came. */
  readonly lastStatus: number | null
  readonly lastAnswer: string | null
}

export interface FeedQuery {
  readonly merchant: string
  readonly livemode: boolean
  readonly after: number
  /** Left out: all types. */
  readonly types?: readonly string[] | undefined
  readonly limit: number
}

/** How far a group has come in a partition of the bus. */
export interface Handled {
  /** Of the history that the messages belong to. */
  readonly branch: string
  /** A decimal number. */
  readonly nextOffset: string
  /** Of the newest event of the log that was handled. */
  readonly position: number
}

/** What groups have handled, and what they were to handle: kept for longer than a broker keeps messages. */
export interface BusJournal {
  /** `undefined` when the group has handled nothing of the partition. */
  handled(group: string, partition: number): Promise<Handled | undefined>
  note(group: string, partition: number, handled: Handled): Promise<void>
  /** Public events of the next events of the log behind a position, in their order. */
  behind(position: number, limit: number): Promise<EventsBehind>
}

export interface EventsBehind {
  readonly events: readonly PublicEvent[]
  /** Position up to which these are all. */
  readonly through: number
  readonly isEnd: boolean
}

export interface EventBus {
  /** Resolves when the bus keeps the messages; they may be published again after a failure. */
  publish(events: readonly PublicEvent[]): Promise<void>
  /** Hands over batches in order per resource; a batch whose handler rejects comes again. */
  subscribe(group: string, handle: (events: readonly PublicEvent[]) => Promise<void>): Promise<Subscription>
  close(): Promise<void>
}
