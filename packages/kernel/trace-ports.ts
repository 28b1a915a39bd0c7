/**
 * The port of tracing. It is left out where nobody listens; whoever works then has nothing but that to check.
 */
export interface Tracing {
  /** Begins a span, which whoever began it must end. */
  begin(options: SpanOptions): Span
  /** Carries out work as part of a span: there `current` and `name` mean that span, however deep. */
  within<Result>(span: Span, work: () => Result): Result
  /** Carries out work as a span of its own. */
  span<Result>(options: SpanOptions, work: (span: Span) => Promise<Result>): Promise<Result>
  /** The span that this work is part of, as a `traceparent`. */
  current(): string | undefined
  /** Names the span that this work is part of. */
  name(name: string): void
}

export interface SpanOptions {
  readonly name: string
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
  /** W3C traceparent of what caused it; a trace begins here when there is none. */
  readonly parent: string | undefined
  /** Others that it works for. */
  readonly links?: readonly string[]
  /** Neither secrets nor telephone numbers. */
  readonly attributes?: SpanAttributes
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Span {
  /** Tells those who continue it, in this process or another. */
  readonly traceparent: string
  set(attributes: SpanAttributes): void
  /** With what it failed with, if it did. */
  end(error?: unknown): void
}
