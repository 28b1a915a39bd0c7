import type { Client, Dependencies, Request, SendOptions } from '../../../packages/contract/routes.ts'
import {
  streamName,
  type AnyDecider,
  type Decider,
  type Message,
  type Payloads,
} from '../../../packages/kernel/decider.ts'
import type { Envelope } from '../../../packages/kernel/envelope.ts'
import type { Outcome } from '../../../packages/kernel/execution/options.ts'
import { foldStored } from '../../../packages/kernel/history.ts'
import { ownerOf, owns, type Owner } from '../../../packages/kernel/owner.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import type { Caller } from '../../../packages/contract/access/callers.ts'
import { isOf, type Keyed } from '../kinds/keyed.ts'

/** A request of a kind of row known only at run time. */
export interface AnyRequest extends Request<object | undefined, Readonly<Record<string, unknown>>> {
  /** The id of the stream that the operation is about, if it is about one. */
  readonly subject: string | undefined
  /** The value of `If-Match`, until a command was bound to it. */
  readonly ifRevision: number | undefined
  /** An earlier try of it did not end: it may have had effects. */
  readonly isResumed: boolean
  /**
   * The stream as an earlier try of this request has left it, whose answer was lost: what that was checked
   * against then is not checked again. `undefined` where it did not come that far, or there was none.
   */
  earlier(decider: AnyDecider, id: string): Promise<Outcome<unknown> | undefined>
  /** Header Min-Position: a list must reflect at least this position. */
  readonly minPosition: number | undefined
  /** This process's last write for the owner. */
  readonly lastWritten: number
  /** Sent as Ledger-Position. */
  readonly position: number
}

export interface RequestParts extends Omit<
  AnyRequest,
  'owner' | 'client' | 'position' | 'showed' | 'read' | 'send' | 'isResumed' | 'earlier' | 'hasWritten'
> {
  /** Few requests ask. */
  readonly findClient: () => Client
  readonly keyed?: Keyed | undefined
}

export class HttpRequest implements AnyRequest {
  readonly caller: Caller
  readonly owner: Owner
  readonly dependencies: Dependencies
  readonly envelope: Envelope
  readonly id: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: object | undefined
  readonly cookie: string | undefined
  readonly minPosition: number | undefined
  readonly lastWritten: number
  readonly #findClient: () => Client
  #position = 0
  #hasStarted = false
  #isResumed = false
  readonly subject: string | undefined
  /** Only the first command is bound to it: what follows is this request's own. */
  #ifRevision: number | undefined
  readonly #keyed: Keyed | undefined
  #revision: number | undefined
  #shown: number | undefined

  constructor(parts: RequestParts) {
    this.caller = parts.caller
    this.owner = ownerOf(parts.envelope)
    this.dependencies = parts.dependencies
    this.envelope = parts.envelope
    this.id = parts.id
    this.path = parts.path
    this.#findClient = parts.findClient
    this.params = parts.params
    this.query = parts.query
    this.body = parts.body
    this.cookie = parts.cookie
    this.minPosition = parts.minPosition
    this.lastWritten = parts.lastWritten
    this.subject = parts.subject
    this.#ifRevision = parts.ifRevision
    this.#keyed = parts.keyed
  }

  get client(): Client {
    return this.#findClient()
  }

  get position(): number {
    return this.#position
  }

  /** It has written to the stream of its own id. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  get ifRevision(): number | undefined {
    return this.#ifRevision
  }

  get isResumed(): boolean {
    return this.#isResumed
  }

  resume(): void {
    this.#isResumed = true
  }

  /** Of the stream that the path names or that this request has started. */
  get revision(): number | undefined {
    return this.#revision
  }

  /** Position of the last event of what is shown. */
  get shown(): number | undefined {
    return this.#shown
  }

  read(revision: number, position?: number): void {
    this.#revision = revision
    this.#shown = position
  }

  showed(position: number): void {
    this.#position = Math.max(this.#position, position)
  }

  async hasWritten(stream: string, type?: string): Promise<boolean> {
    const isOwn = this.#isOwn()
    if (!isOwn) return false
    const events = await this.dependencies.store.readStream(stream, 0)
    return events.some((event) => isOwn(event) && (type === undefined || event.type === type))
  }

  /** Whether an event is of a try of this request; `undefined` for one without a key. */
  #isOwn(): ((event: StoredEvent) => boolean) | undefined {
    const keyed = this.#keyed
    return (
      keyed &&
      (({ metadata }) => metadata.idempotencyKey === keyed.answerKey.key && isOf(keyed, metadata.fingerprint))
    )
  }

  async send<S, C extends Payloads, E extends Payloads, O extends Owner>(
    decider: Decider<S, C, E, O>,
    id: string,
    command: Message<C>,
    options?: SendOptions,
  ) {
    const { isWhole, ...sending } = options ?? {}
    const known = isWhole && (await this.earlier(decider, id))
    if (known) return known
    const isSubject = id === this.subject
    const bound = isSubject && this.#ifRevision !== undefined ? { ifRevision: this.#ifRevision } : undefined
    const envelope = options || bound ? Object.assign({}, this.envelope, sending, bound) : this.envelope
    const outcome = await this.dependencies.executor.send(decider, id, command, envelope as never)
    return this.#after(outcome, id)
  }

  async earlier<S, C extends Payloads, E extends Payloads, O extends Owner>(
    decider: Decider<S, C, E, O>,
    id: string,
  ): Promise<Outcome<S> | undefined> {
    const isOwn = this.#isResumed ? this.#isOwn() : undefined
    if (!isOwn) return undefined
    const events = await this.dependencies.store.readStream(streamName(decider.category, id), 0)
    const last = events.findLast(isOwn)
    if (!last || !owns(this.owner, events[0]!.metadata)) return undefined
    const { revision, position } = last
    const before = events.filter((event) => event.revision <= revision)
    const state = foldStored(decider, before) as S
    return this.#after({ id, state, revision, position, appended: 0 }, id)
  }

  #after<S>(outcome: Outcome<S>, id: string): Outcome<S> {
    const isSubject = id === this.subject
    this.showed(outcome.position)
    if (isSubject) this.#ifRevision = undefined
    if (isSubject || id === this.id) this.read(outcome.revision)
    if (id === this.id && outcome.appended > 0) this.#hasStarted = true
    return outcome
  }
}
