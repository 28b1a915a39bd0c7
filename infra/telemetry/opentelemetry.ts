import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Link,
  type Span as ApiSpan,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { metrics, NodeSDK, resources } from '@opentelemetry/sdk-node'
import type { Span, SpanAttributes, SpanOptions, Tracing } from '../../packages/kernel/ports/traces.ts'
import { metricProducer, type Scrape } from './metric-bridge.ts'

export interface TelemetryOptions {
  readonly service: string
  readonly instance: string
  /** This process's metrics, as Prometheus would read them. */
  readonly scrape: Scrape
}

export interface Telemetry {
  readonly tracing: Tracing
  /** Sends what has not been sent yet. */
  close(): Promise<void>
}

/**
 * Sends traces and metrics by OTLP. The SDK reads endpoint, protocol and sampling from the OTEL_* variables.
 * What no collector accepts is dropped; queues are bounded. Metrics are sent as protobuf.
 */
export function startTelemetry({ service, instance, scrape }: TelemetryOptions): Telemetry {
  const { PeriodicExportingMetricReader } = metrics
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    metricProducers: [metricProducer(scrape)],
  })
  const sdk = new NodeSDK({
    resource: resources.resourceFromAttributes({ 'service.name': service, 'service.instance.id': instance }),
    // The other detectors would reveal the command line and the user of this process.
    resourceDetectors: [resources.envDetector],
    metricReaders: [reader],
  })
  sdk.start()
  const tracing = new OpenTelemetry(trace.getTracer('ikw-payments'))
  // An unreachable collector must not delay a shutdown.
  return { tracing, close: () => sdk.shutdown().catch(() => undefined) }
}

const kinds: Readonly<Record<SpanOptions['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}

class OpenTelemetry implements Tracing {
  readonly #tracer: Tracer

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  begin({ name, kind, parent, links = [], attributes = {} }: SpanOptions): OpenSpan {
    const options = { kind: kinds[kind], attributes: { ...attributes }, links: links.flatMap(linkOf) }
    return new OpenSpan(this.#tracer.startSpan(name, options, contextOf(parent)))
  }

  within<Result>(span: Span, work: () => Result): Result {
    return context.with(contextOf(span.traceparent, span instanceof OpenSpan ? span.span : undefined), work)
  }

  async span<Result>(options: SpanOptions, work: (span: Span) => Promise<Result>): Promise<Result> {
    const span = this.begin(options)
    try {
      const result = await this.within(span, () => work(span))
      span.end()
      return result
    } catch (error) {
      span.end(error)
      throw error
    }
  }

  current(): string | undefined {
    const span = trace.getActiveSpan()
    return span && traceparentOf(span.spanContext())
  }

  name(name: string): void {
    trace.getActiveSpan()?.updateName(name)
  }
}

class OpenSpan implements Span {
  readonly span: ApiSpan
  readonly traceparent: string

  constructor(span: ApiSpan) {
    this.span = span
    this.traceparent = traceparentOf(span.spanContext())
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes({ ...attributes })
  }

  /** Error messages may contain private data; their class does not. */
  end(error?: unknown): void {
    if (error !== undefined) {
      const { reason, name } = error as { reason?: unknown; name?: unknown }
      this.span.setAttribute('error.type', String(reason ?? name ?? 'unknown'))
      this.span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.span.end()
  }
}

function contextOf(parent: string | undefined, span?: ApiSpan): Context {
  if (span) return trace.setSpan(ROOT_CONTEXT, span)
  const known = parent === undefined ? undefined : spanContextOf(parent)
  return known ? trace.setSpanContext(ROOT_CONTEXT, known) : ROOT_CONTEXT
}

function linkOf(traceparent: string): readonly Link[] {
  const known = spanContextOf(traceparent)
  return known ? [{ context: known }] : []
}

function spanContextOf(traceparent: string): SpanContext | undefined {
  const [version, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  const traceFlags = parseInt(flags, 16) & TraceFlags.SAMPLED
  const found = { traceId, spanId, traceFlags, isRemote: true }
  return version === '00' && isSpanContextValid(found) ? found : undefined
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`
}
