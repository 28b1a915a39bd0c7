/** The port for tracing. It is left out where no traces are collected; callers then only check for that. */
export interface Tracing {
  /** Begins a span, which the caller must end. */
  begin(options: SpanOptions): Span
  /** Runs work inside a span: `current` and `name` then mean that span, however deep. */
  within<Result>(span: Span, work: () => Result): Result
  /** Runs work as a span of its own. */
  span<Result>(options: SpanOptions, work: (span: Span) => Promise<Result>): Promise<Result>
  /** The current span as a `traceparent`. */
  current(): string | undefined
  /** Names the current span. */
  name(name: string): void
}

export interface SpanOptions {
  readonly name: string
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
  /** W3C traceparent of the cause; a new trace begins when there is none. */
  readonly parent: string | undefined
  /** Further spans that it works for. */
  readonly links?: readonly string[]
  /** Neither secrets nor phone numbers. */
  readonly attributes?: SpanAttributes
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Span {
  /** The traceparent for those who continue it, in this process or another. */
  readonly traceparent: string
  set(attributes: SpanAttributes): void
  /** With the error, if it failed. */
  end(error?: unknown): void
}
