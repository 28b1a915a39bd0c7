import type { Dependencies, Request, SendOptions } from '../../../packages/contract/routes.ts'
import { streamName, type Decider, type Message, type Payloads } from '../../../packages/kernel/decider.ts'
import type { Envelope } from '../../../packages/kernel/envelope.ts'
import type { Outcome } from '../../../packages/kernel/executor-options.ts'
import { foldStored } from '../../../packages/kernel/history.ts'
import { owns } from '../../../packages/kernel/owner.ts'
import type { Caller } from '../../../packages/contract/callers.ts'

/** A request of a kind of row that is only known at run time. */
export interface AnyRequest extends Request<object | undefined, Readonly<Record<string, unknown>>> {
  /** The stream that the path names, or the caller's own. */
  readonly target: string | undefined
  /** Header Min-Position: a list must show at least this. */
  readonly minPosition: number | undefined
  /** What this process last wrote for the merchant. */
  readonly lastWritten: number
  /** Position that is answered as Ledger-Position. */
  readonly position: number
  /** Notes the revision that is shown of what the path names. */
  read(revision: number): void
}

export interface RequestParts {
  readonly dependencies: Dependencies
  readonly caller: Caller
  readonly envelope: Envelope
  readonly id: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly target: string | undefined
  readonly query: Readonly<Record<string, unknown>>
  readonly body: object | undefined
  readonly minPosition: number | undefined
  readonly lastWritten: number
  /** What `If-Match` names. */
  readonly ifRevision: number | undefined
}

export class HttpRequest implements AnyRequest {
  readonly caller: Caller
  readonly dependencies: Dependencies
  readonly envelope: Envelope
  readonly id: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly target: string | undefined
  readonly query: Readonly<Record<string, unknown>>
  readonly body: object | undefined
  readonly minPosition: number | undefined
  readonly lastWritten: number
  #position = 0
  #hasStarted = false
  #isResumed = false
  /** Only the first command is bound to it: what follows is this request's own. */
  #ifRevision: number | undefined
  #revision: number | undefined

  constructor(parts: RequestParts) {
    this.caller = parts.caller
    this.dependencies = parts.dependencies
    this.envelope = parts.envelope
    this.id = parts.id
    this.path = parts.path
    this.params = parts.params
    this.target = parts.target
    this.query = parts.query
    this.body = parts.body
    this.minPosition = parts.minPosition
    this.lastWritten = parts.lastWritten
    this.#ifRevision = parts.ifRevision
  }

  get position(): number {
    return this.#position
  }

  /** It has written to the stream of its own identity. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** An earlier try of this request did not end: it may have had effects. */
  resume(): void {
    this.#isResumed = true
  }

  /** Of the stream that the path names or that this request has started. */
  get revision(): number | undefined {
    return this.#revision
  }

  read(revision: number): void {
    this.#revision = revision
  }

  showed(position: number): void {
    this.#position = Math.max(this.#position, position)
  }

  async send<S, C extends Payloads, E extends Payloads>(
    decider: Decider<S, C, E>,
    id: string,
    command: Message<C>,
    options?: SendOptions,
  ) {
    const { isWhole, ...sending } = options ?? {}
    const isNamed = id === this.target
    const bound = isNamed && this.#ifRevision !== undefined ? { ifRevision: this.#ifRevision } : undefined
    const envelope = options || bound ? Object.assign({}, this.envelope, sending, bound) : this.envelope
    const earlier = isWhole && this.#isResumed ? await this.#earlier(decider, id) : undefined
    const outcome = earlier ?? (await this.dependencies.executor.send(decider, id, command, envelope))
    this.showed(outcome.position)
    if (isNamed) this.#ifRevision = undefined
    if (isNamed || id === this.id) this.read(outcome.revision)
    if (id === this.id && outcome.appended > 0) this.#hasStarted = true
    return outcome
  }

  /** The stream as an earlier try of this request left it, if that came so far. */
  async #earlier<S, C extends Payloads, E extends Payloads>(
    decider: Decider<S, C, E>,
    id: string,
  ): Promise<Outcome<S> | undefined> {
    const { idempotencyKey, fingerprint } = this.envelope
    const events = await this.dependencies.store.readStream(streamName(decider.category, id), 0)
    const last = events.findLast(
      ({ metadata }) => metadata.idempotencyKey === idempotencyKey && metadata.fingerprint === fingerprint,
    )
    if (!last || !owns(this.caller, events[0]!.metadata)) return undefined
    const { revision, position } = last
    const before = events.filter((event) => event.revision <= revision)
    return { id, state: foldStored(decider, before) as S, revision, position, appended: 0 }
  }
}
