import { streamName, type AnyDecider } from '../../../packages/kernel/decider.ts'
import { Executor } from '../../../packages/kernel/execution/execute.ts'
import type { PendingCommand, ExecutorOptions, Outcome } from '../../../packages/kernel/execution/options.ts'
import type { EventBus } from '../../../packages/kernel/ports/messages.ts'
import type { EventStore, NewEvent } from '../../../packages/kernel/ports.ts'
import type { PaymentRails } from '../../../packages/kernel/ports/rails.ts'
import type { Span, Tracing } from '../../../packages/kernel/ports/traces.ts'

/**
 * Ports and executor with tracing. Without a collector nothing here is used. Causes are stored in events'
 * metadata, so a trace continues in whatever process reads them.
 */

const linksMax = 100

/** Each command is a span, and its events carry that span on. */
export class TracedExecutor extends Executor {
  readonly #store: EventStore
  readonly #tracing: Tracing

  constructor(options: ExecutorOptions, tracing: Tracing) {
    super(options)
    this.#store = options.store
    this.#tracing = tracing
  }

  override async sendAll(
    decider: AnyDecider,
    id: string,
    commands: readonly PendingCommand[],
  ): Promise<Outcome<unknown>> {
    const stream = streamName(decider.category, id)
    const spans: Span[] = []
    const traced: PendingCommand[] = []
    for (const pending of commands) {
      const parent = pending.envelope.traceparent ?? (await this.#origin(stream, pending))
      const runtime = this.#begin(`${decider.category} ${pending.command.type}`, pending, parent)
      spans.push(...runtime)
      traced.push({ ...pending, envelope: { ...pending.envelope, traceparent: runtime[0]!.traceparent } })
    }
    try {
      const outcome = await super.sendAll(decider, id, traced)
      for (const span of spans) span.set({ 'ikw.stream': stream, 'ikw.revision': outcome.revision })
      for (const span of spans) span.end()
      return outcome
    } catch (error) {
      for (const span of spans) span.end(error)
      throw error
    }
  }

  /** The command, and around it the policy that sends it. */
  #begin(
    name: string,
    { envelope: { cause, actor } }: PendingCommand,
    parent: string | undefined,
  ): readonly Span[] {
    const attributes = { 'ikw.actor': actor }
    if (!cause) return [this.#tracing.begin({ name, kind: 'internal', parent, attributes })]
    const policy = this.#tracing.begin({ name: `policy ${cause.policy}`, kind: 'consumer', parent })
    const command = { name, kind: 'internal', parent: policy.traceparent, attributes } as const
    return [this.#tracing.begin(command), policy]
  }

  /**
   * Operators and clocks carry no trace: what they report belongs to the trace that the stream began with.
   */
  async #origin(stream: string, { envelope }: PendingCommand): Promise<string | undefined> {
    if (envelope.actor !== 'rail' && envelope.actor !== 'timer') return undefined
    const [first] = await this.#store.readStream(stream, 0, 1)
    return first?.metadata.traceparent
  }
}

export function tracedStore(store: EventStore, tracing: Tracing): EventStore {
  return {
    async append(stream, expected, events) {
      const [parent, ...links] = causesOf(events)
      const attributes = { 'ikw.stream': stream, 'ikw.events': events.length }
      return tracing.span({ name: 'append', kind: 'client', parent, links, attributes }, () =>
        store.append(stream, expected, events),
      )
    },
    readStream: (stream, from, limit) => store.readStream(stream, from, limit),
    readAll: (after, limit, filter) => store.readAll(after, limit, filter),
    readAt: (position) => store.readAt(position),
    readOn: (after) => store.readOn(after),
    head: () => store.head(),
    subscribe: (options) => store.subscribe(options),
    irregularities: () => store.irregularities(),
    counts: () => store.counts(),
    ping: () => store.ping(),
    close: () => store.close(),
  }
}

/** A traced store for one consumer of the log, with a span per batch. */
export function tracedBatches(store: EventStore, tracing: Tracing, name: string): EventStore {
  return {
    ...store,
    subscribe: (options) =>
      store.subscribe({
        ...options,
        handle: (events, through) => {
          const attributes = { 'ikw.events': events.length, 'ikw.position': through }
          const batch = {
            name,
            kind: 'consumer',
            parent: undefined,
            links: causesOf(events),
            attributes,
          } as const
          return tracing.span(batch, () => options.handle(events, through))
        },
      }),
  }
}

/** Calls to operators belong to their caller's span; what operators report starts a new trace. */
export function tracedRail(rail: PaymentRails, tracing: Tracing): PaymentRails {
  const call = <Result>(name: string, reference: string, work: () => Promise<Result>) => {
    const attributes = { 'ikw.reference': reference }
    return tracing.span({ name: `rail ${name}`, kind: 'client', parent: tracing.current(), attributes }, work)
  }
  return {
    serves: (choice) => rail.serves(choice),
    submit: (request) => call('submit', request.reference, () => rail.submit(request)),
    status: (reference, route) => call('status', reference, () => rail.status(reference, route)),
    health: (route) => rail.health(route),
    onCallback: (handle) => rail.onCallback(handle),
  }
}

/** Publishing an event is a span, which its consumer continues. */
export function tracedBus(bus: EventBus, tracing: Tracing): EventBus {
  return {
    async publish(events) {
      const spans = events.map(({ type, id, traceparent: parent }) =>
        tracing.begin({ name: `publish ${type}`, kind: 'producer', parent, attributes: { 'ikw.event': id } }),
      )
      try {
        await bus.publish(
          events.map((event, index) => ({ ...event, traceparent: spans[index]!.traceparent })),
        )
        for (const span of spans) span.end()
      } catch (error) {
        for (const span of spans) span.end(error)
        throw error
      }
    },
    subscribe: (group, handle) => bus.subscribe(group, handle),
    close: () => bus.close(),
  }
}

function causesOf(events: readonly Pick<NewEvent, 'metadata'>[]): readonly string[] {
  const causes = new Set(events.flatMap(({ metadata: { traceparent } }) => traceparent ?? []))
  return [...causes].slice(0, linksMax)
}
