import type { Irregularity, Log } from '../../../../packages/kernel/ports.ts'
import { CountedEvents } from './counted-events.ts'
import type { ServerEvent } from '../messages/read.ts'

/** This many streams are named, and so many more counted. */
const namedMax = 1_000
const unnamedMax = 100_000

const tombstone = '$streamDeleted'

/** Events in our streams that this service has not written: readers of the log skip them. */
export class PassedOver {
  readonly #log: Pick<Log, 'warn'> | undefined
  readonly #named = new Map<string, string>()
  readonly #unnamed = new Set<string>()
  /** So that each counts once, however many readers come by. */
  readonly #counted = new CountedEvents()
  count = 0

  constructor(log: Pick<Log, 'warn'> | undefined) {
    this.#log = log
  }

  get irregularities(): readonly Irregularity[] {
    const named = [...this.#named].map(([stream, problem]) => ({ stream, problem }))
    const { size } = this.#unnamed
    if (size === 0) return named
    const more = size < unnamedMax ? `${size}` : `at least ${size}`
    const problem = 'hold events that this service has not written, or were deleted for ever'
    return [...named, { stream: `${more} more streams`, problem }]
  }

  add(stream: string, event: Pick<ServerEvent, 'type' | 'id' | 'revision'>): void {
    if (!this.#counted.add(stream, event.revision)) return
    this.count++
    if (this.#named.has(stream)) return
    if (this.#named.size >= namedMax) {
      if (this.#unnamed.size < unnamedMax) this.#unnamed.add(stream)
      return
    }
    const problem = event.type === tombstone ? 'was deleted for ever' : foreignEventProblem(event)
    this.#named.set(stream, problem)
    this.#log?.warn({ stream, type: event.type, id: event.id }, `passed over: ${stream} ${problem}`)
  }
}

export function foreignEventProblem({ type, id }: Pick<ServerEvent, 'type' | 'id'>): string {
  return `holds the event ${id} of type ${type}, which this service has not written`
}

export function gapProblem(revision: number, expected: number): string {
  return `goes on with revision ${revision} where ${expected} is expected`
}
