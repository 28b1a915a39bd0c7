import { createHash } from 'node:crypto'
import { canonicalJson } from '../transparency/canonical-json.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import type { History } from './store-pages.ts'

/** A digest of a history: equal digests mean equal events in equal order. */
export interface Digest {
  readonly events: number
  readonly streams: number
  /** Position of the last event. */
  readonly position: number
  /** SHA-256 in hex. */
  readonly sha256: string
}

/** Takes events in order. Member order in JSON is normalised, because it differs between stores. */
export class RunningDigest {
  readonly #hash = createHash('sha256')
  #events = 0
  #streams = 0
  #position = 0

  /** Returns the text that represents the event. */
  add({ position, stream, revision, id, type, data, metadata }: StoredEvent): string {
    const line = canonicalJson([position, stream, revision, id, type, data, metadata])
    this.#hash.update(line).update('\n')
    this.#events += 1
    if (revision === 0) this.#streams += 1
    this.#position = position
    return line
  }

  result(): Digest {
    const sha256 = this.#hash.copy().digest('hex')
    return { events: this.#events, streams: this.#streams, position: this.#position, sha256 }
  }
}

export async function digestOf(
  history: History,
  through: number,
  onProgress: (position: number) => void = () => undefined,
): Promise<Digest> {
  const digest = new RunningDigest()
  for await (const events of history.pages(0, through)) {
    for (const event of events) digest.add(event)
    onProgress(events.at(-1)!.position)
  }
  return digest.result()
}

export interface HistoryDifference {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly problem: 'missing in the copy' | 'only in the copy' | 'not the same in the copy'
}

export interface Comparison {
  readonly source: Digest
  readonly target: Digest
  /** The first differences, at most one per stream. */
  readonly differences: readonly HistoryDifference[]
}

const differencesMax = 20

/** Reads both histories side by side from the start and reports which streams differ. */
export async function compareHistories(
  source: History,
  target: History,
  { through, onProgress }: { readonly through: number; readonly onProgress: (position: number) => void },
): Promise<Comparison> {
  const left = new Side(source.pages(0, through), onProgress)
  const right = new Side(target.pages(0, Infinity))
  const differences = new Map<string, HistoryDifference>()
  const note = ({ event }: Read, problem: HistoryDifference['problem']) => {
    const { stream, revision, position } = event
    if (differences.size >= differencesMax || differences.has(stream)) return
    differences.set(stream, { stream, revision, position, problem })
  }
  let [here, there] = [await left.next(), await right.next()]
  while (here || there) {
    const ahead = (here?.event.position ?? Infinity) - (there?.event.position ?? Infinity)
    if (here && ahead < 0) note(here, 'missing in the copy')
    if (there && ahead > 0) note(there, 'only in the copy')
    if (here && there && ahead === 0 && here.line !== there.line) note(here, 'not the same in the copy')
    const moved = [ahead <= 0 ? left.next() : here, ahead >= 0 ? right.next() : there] as const
    ;[here, there] = [await moved[0], await moved[1]]
  }
  return { source: left.digest(), target: right.digest(), differences: [...differences.values()] }
}

interface Read {
  readonly event: StoredEvent
  readonly line: string
}

/** The events of a history one by one, with a digest of those read so far. */
class Side {
  readonly #pages: AsyncGenerator<readonly StoredEvent[], void>
  readonly #onProgress: (position: number) => void
  readonly #digest = new RunningDigest()
  #page: readonly StoredEvent[] = []
  #index = 0

  constructor(
    pages: AsyncGenerator<readonly StoredEvent[], void>,
    onProgress: (position: number) => void = () => undefined,
  ) {
    this.#pages = pages
    this.#onProgress = onProgress
  }

  /** Undefined at the end. */
  next(): Read | undefined | Promise<Read | undefined> {
    const event = this.#page[this.#index++]
    return event ? { event, line: this.#digest.add(event) } : this.#turn()
  }

  digest(): Digest {
    return this.#digest.result()
  }

  async #turn(): Promise<Read | undefined> {
    const { value, done } = await this.#pages.next()
    if (done) return undefined
    this.#page = value
    this.#index = 0
    this.#onProgress(value.at(-1)?.position ?? 0)
    return this.next()
  }
}
