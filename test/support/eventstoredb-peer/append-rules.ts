/** One event as the server stores it: the bytes are the client's. */
export interface LogRecord {
  readonly stream: string
  readonly revision: number
  /** Commit and prepare position: equal for every event appended through gRPC. */
  readonly position: number
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
  /** In milliseconds since 1970. */
  readonly created: number
}

export type ProposedRecord = Omit<LogRecord, 'stream' | 'revision' | 'position' | 'created'>

export type AppendOutcome =
  /** `position` is -1 where the server does not know it. */
  | { readonly outcome: 'written'; readonly revision: number; readonly position: number }
  /** `current` is -1 when there is no such stream. */
  | { readonly outcome: 'wrong expected version'; readonly current: number }
  | { readonly outcome: 'stream deleted' }
  /** `type` is a message of the protocol, such as `MaximumAppendSizeExceeded`. */
  | { readonly outcome: 'failed'; readonly type: string; readonly code?: number; readonly message: string }

/** Of data, metadata and types of all events of an append. */
export const appendBytesMax = 1024 * 1024

/** What the server refuses before it looks at the stream. */
export function problemOf({ stream, expected, deadline, events }: ProposedAppend, now: number) {
  const bad = (message: string): AppendOutcome => ({ outcome: 'failed', type: 'BadRequest', message })
  if (stream === '') return bad('Required field StreamIdentifier not set.')
  if (expected === undefined) return bad('InvalidArgument: ExpectedStreamPosition')
  if (events.some(({ id }) => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))) return bad('Uuid')
  if (events.some(({ type, contentType }) => type === '' || contentType === '')) return bad('KeyNotFound')
  if (deadline <= now) return { outcome: 'failed', type: 'Timeout', message: 'Timeout' } as const
  return undefined
}

export interface ProposedAppend {
  readonly stream: string
  /** -1 for no stream; undefined for what this service never asks for. */
  readonly expected: number | undefined
  /** In milliseconds since 1970, by the server's clock; Infinity when none is given. */
  readonly deadline: number
  readonly events: readonly ProposedRecord[]
}

/**
 * The same event ids in the same place are the same append, whether they are hidden or not; a part of them
 * is not, nor what a scavenge has removed. A server that has restarted since does not know their position any
 * more.
 */
export function repeatedOrWrong(
  { records: stored, goneBefore }: { readonly records: readonly LogRecord[]; readonly goneBefore: number },
  expected: number,
  proposed: readonly ProposedRecord[],
): AppendOutcome {
  const isThere = expected + 1 >= goneBefore
  const found = isThere ? stored.slice(expected + 1, expected + 1 + proposed.length) : []
  const same = proposed.length > 0 && proposed.every(({ id }, index) => found[index]?.id === id)
  const last = found.at(-1)
  return same && last
    ? { outcome: 'written', revision: last.revision, position: -1 }
    : wrong(stored.length - 1)
}

export function wrong(current: number): AppendOutcome {
  return { outcome: 'wrong expected version', current }
}

export function written(last: LogRecord | undefined): AppendOutcome {
  return { outcome: 'written', revision: last?.revision ?? -1, position: last?.position ?? -1 }
}

export function sizeOf({ type, data, metadata }: ProposedRecord): number {
  return 2 * type.length + data.length + metadata.length
}

export const tooLarge: AppendOutcome = {
  outcome: 'failed',
  type: 'MaximumAppendSizeExceeded',
  message: `Maximum Append Size of ${appendBytesMax} Exceeded.`,
}
