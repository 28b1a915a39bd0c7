import { LRUCache } from 'lru-cache'
import type { Irregularity, Log } from '../../../packages/kernel/ports.ts'
import type { ServerEvent } from './read-messages.ts'

/** This many streams are named; any more are only counted. */
const streamsMax = 1_000
const countedMax = 10_000

const tombstone = '$streamDeleted'

/** Events in our streams that this service has not written: readers of the log skip them. */
export class PassedOver {
  readonly #log: Pick<Log, 'warn'> | undefined
  readonly #streams = new Map<string, string>()
  /** By their commit position, so that each counts once, however many readers come by. */
  readonly #counted = new LRUCache<number, true>({ max: countedMax })
  count = 0

  constructor(log: Pick<Log, 'warn'> | undefined) {
    this.#log = log
  }

  get irregularities(): readonly Irregularity[] {
    return [...this.#streams].map(([stream, problem]) => ({ stream, problem }))
  }

  add(stream: string, event: Pick<ServerEvent, 'type' | 'id' | 'commit'>): void {
    if (this.#counted.has(event.commit)) return
    this.#counted.set(event.commit, true)
    this.count++
    if (this.#streams.has(stream) || this.#streams.size >= streamsMax) return
    const problem = event.type === tombstone ? 'was deleted for ever' : foreignEventProblem(event)
    this.#streams.set(stream, problem)
    this.#log?.warn({ stream, type: event.type, id: event.id }, `passed over: ${stream} ${problem}`)
  }
}

export function foreignEventProblem({ type, id }: Pick<ServerEvent, 'type' | 'id'>): string {
  return `holds the event ${id} of type ${type}, which this service has not written`
}

export function gapProblem(revision: number, expected: number): string {
  return `goes on with revision ${revision} where ${expected} is expected`
}
