import type { MerchantOwner } from '../owner.ts'
import type { Subscription } from '../ports.ts'

/** Ports for public events and the bus that carries them. */

/** A public event as the merchant receives it; `payload` is the exact webhook body. */
export interface PublicEvent {
  /** `evt_` and 32 hex digits. */
  readonly id: string
  readonly type: string
  readonly merchant: string
  readonly livemode: boolean
  /** `payout/<uuid>`: messages of one resource stay in order. */
  readonly resource: string
  /**
   * Its place among all events of its merchant and environment: it only grows, even for an event published
   * late.
   */
  readonly sequence: number
  /** Log position of the event; internal. */
  readonly position: number
  readonly payload: string
  /** W3C traceparent of its cause. Carried beside the event, never sent to merchants inside it. */
  readonly traceparent?: string
}

/** Events that an endpoint may be sent again when it asks for all it missed. */
export interface MissedEvents {
  /** UUID. */
  readonly endpoint: string
  readonly merchant: string
  readonly livemode: boolean
  readonly types: readonly string[]
  /** RFC 3339. */
  readonly since: string
  /** Only events after this log position: the endpoint's registration. */
  readonly after: number
  readonly through: number
}

/** All public events ever made, whether or not an endpoint received them. */
export interface PublicEvents {
  /** An event of this merchant and environment. */
  find(id: string, owner: Pick<PublicEvent, 'merchant' | 'livemode'>): Promise<PublicEvent | undefined>
  countMissed(missed: MissedEvents): Promise<number>
  /** Where an event was sent and with what result, replays included; newest first, at most 100. */
  deliveries(id: string, owner: MerchantOwner): Promise<readonly EventDelivery[]>
  /** What one endpoint was sent, the newest events first. */
  deliveriesTo(query: DeliveriesQuery): Promise<DeliveriesPage>
  /** The next events of a merchant and environment after a sequence, oldest first. */
  feed(query: FeedQuery): Promise<readonly PublicEvent[]>
}

export interface DeliveriesQuery extends MerchantOwner {
  /** UUID. */
  readonly endpoint: string
  /** Types of events. Left out: all. */
  readonly types?: readonly string[] | undefined
  /** Left out: all. */
  readonly status?: EventDelivery['status'] | undefined
  /** Only events with a smaller sequence. */
  readonly before?: number | undefined
  readonly limit: number
}

export interface DeliveriesPage {
  readonly deliveries: readonly EventDelivery[]
  /** Where the next page begins; missing on the last one. A page may be empty and not the last. */
  readonly next?: number | undefined
}

/** What became of one event at one endpoint. */
export interface EventDelivery {
  /** Public id. */
  readonly event: string
  /** UUID. */
  readonly endpoint: string
  readonly status: 'pending' | 'succeeded' | 'failed' | 'skipped'
  readonly attempts: number
  readonly isReplay: boolean
  /** When the next attempt is due; null when there is none, or it only waits for earlier ones. */
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

/** A group's progress in one partition of the bus. */
export interface Handled {
  /** Id of the history that the messages belong to. */
  readonly branch: string
  /** A decimal number. */
  readonly nextOffset: string
  /** Log position of the newest event handled. */
  readonly position: number
  /** Of the topic, in which this offset is one. */
  readonly generation: number
}

/** How far the topic has been published to. */
export interface PublishedTopic {
  /** How often it had to be made anew. */
  readonly generation: number
  /** An offset, as a decimal number, that each partition is known to have reached, by partition. */
  readonly offsets: Readonly<Record<string, string>>
}

/** What groups have handled and still had to handle, kept for longer than a broker keeps messages. */
export interface BusJournal {
  /** `undefined` when the group has handled nothing in this partition. */
  handled(group: string, partition: number): Promise<Handled | undefined>
  note(group: string, partition: number, handled: Handled): Promise<void>
  /** The lowest position of partitions that were last handled in an older topic, if there are any. */
  handledInOlderTopics(group: string, generation: number): Promise<number | undefined>
  /** Everything up to this position is handled, also in the partitions of older topics. */
  passOlderTopics(group: string, generation: number, position: number): Promise<void>
  published(): Promise<PublishedTopic>
  notePublished(offsets: PublishedTopic['offsets']): Promise<void>
  /** The topic was made anew, and has these offsets. Resolves to its generation. */
  beginGeneration(offsets: PublishedTopic['offsets']): Promise<number>
  /** Public events made from the next events of the log after a position, in order. */
  behind(position: number, limit: number): Promise<EventsBehind>
}

export interface EventsBehind {
  readonly events: readonly PublicEvent[]
  /** Complete up to this position. */
  readonly through: number
  readonly isEnd: boolean
}

export interface EventBus {
  /** Resolves when the bus has stored the messages; after a failure they may be published again. */
  publish(events: readonly PublicEvent[]): Promise<void>
  /** Hands over batches, in order per resource; a batch whose handler rejects is repeated. */
  subscribe(group: string, handle: (events: readonly PublicEvent[]) => Promise<void>): Promise<Subscription>
  close(): Promise<void>
}
