import type { Decider, Message, Payloads } from '../kernel/decider.ts'
import type { Envelope } from '../kernel/envelope.ts'
import type { Outcome } from '../kernel/execution/options.ts'
import type { Owner } from '../kernel/owner.ts'
import type { Caller } from './access/callers.ts'
import type { Dependencies } from './dependencies.ts'
import type { Language } from './locale/languages.ts'

export interface SendOptions extends Pick<
  Envelope,
  'asOf' | 'isNew' | 'mustBeNew' | 'mustExist' | 'onConflict'
> {
  /**
   * The request sends this stream nothing else, so events with its idempotency key are all it does there, and
   * a try whose answer was lost is not repeated.
   */
  readonly isWhole?: true
}

/** What is known of the sender besides the credential. */
export interface Client {
  readonly address: string | null
  /** What it says it is. */
  readonly device: string | null
  /** As a trusted proxy says, in ISO 3166-1. */
  readonly country: string | null
  /** The first of ours that it asks for. */
  readonly language: Language | null
  /** Nobody is there yet: a messenger makes its preview of a link, or a browser loads ahead. */
  readonly isLooking?: boolean
}

/** A request as an action sees it: authenticated, validated and normalised. */
export interface Request<Body = undefined, Query = object> {
  readonly caller: Caller
  /** For whom the caller acts: whose streams are read and written. */
  readonly owner: Owner
  /** As the client requested it. */
  readonly path: string
  readonly client: Client
  /** The id of what this request creates: derived from its idempotency key, else new. */
  readonly id: string
  /** UUIDs of the path, whatever their spelling; other parameters as they are. */
  readonly params: Readonly<Record<string, string>>
  readonly body: Body
  readonly query: Query
  readonly dependencies: Dependencies
  readonly envelope: Envelope
  /** The header Cookie. */
  readonly cookie?: string | undefined
  /** Records a log position that the response reflects at least, sent as Ledger-Position. */
  showed(position: number): void
  /**
   * Notes the revision that the answer shows of the operation's subject, which is the ETag, and the log
   * position of its last event where that is known.
   */
  read(revision: number, position?: number): void
  /**
   * Whether an earlier try of this request, whose answer was lost, has written to this stream: what it was
   * checked against may have changed by it. `type`: an event of this type.
   */
  hasWritten(stream: string, type?: string): Promise<boolean>
  /** Sends a command in the caller's name; the resulting position is sent as Ledger-Position. */
  send<S, C extends Payloads, E extends Payloads, O extends Owner>(
    decider: Decider<S, C, E, O>,
    id: string,
    command: Message<C>,
    options?: SendOptions,
  ): Promise<Outcome<S>>
}
