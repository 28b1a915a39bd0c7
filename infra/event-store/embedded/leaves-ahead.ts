import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type pg from 'pg'
import type { LogPart, NewLeaves } from '../../transparency/leaves.ts'
import { openNewReadPool } from './session.ts'

/** As threads answer: of a `Buffer` only its memory is sent. */
export interface LeavesMessage {
  readonly positions: readonly number[]
  readonly commitments: Uint8Array
}

export interface LeavesAheadOptions {
  readonly url: string
  /** Default: a tenth of a second's work. */
  readonly eventsPerPart?: number
  /** Threads begin slowly: with fewer events this one is done before them. */
  readonly partsAtLeast?: number
}

/**
 * More than this one can take leaves from at once. Each has a connection and 30 MB, and a machine may have
 * more processors than its server takes connections.
 */
const threadsMost = 4
/** For each thread, so that it has the next one when it has answered. */
const partsAhead = 2
/** `.ts` where the program runs from its sources. */
const filename = new URL(`./leaves-thread${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * The leaves of a long piece of the log, in its order, made in threads of a low priority: on several
 * processors, and requests go first. Ends before the last events, which are too few for a thread, or at once.
 */
export async function* leavesAhead(
  { url, eventsPerPart = 10_000, partsAtLeast = 20 }: LeavesAheadOptions,
  piece: LogPart,
): AsyncGenerator<NewLeaves, void> {
  const pool = openNewReadPool(url)
  const threads = new LeavesThreads(url)
  const coming: Promise<NewLeaves>[] = []
  try {
    if ((await positionOf(pool, piece, partsAtLeast * eventsPerPart)) === undefined) return
    for await (const part of wholeParts(pool, piece, eventsPerPart)) {
      coming.push(threads.leavesOf(part))
      if (coming.length === threads.partsMax) yield await coming.shift()!
    }
    for (const leaves of coming) yield await leaves
  } finally {
    await threads.end()
    await pool.end()
  }
}

async function* wholeParts(
  pool: pg.Pool,
  { after, through }: LogPart,
  size: number,
): AsyncGenerator<LogPart> {
  for (let start = after; ;) {
    const end = await positionOf(pool, { after: start, through }, size)
    if (end === undefined) return
    yield { after: start, through: end }
    start = end
  }
}

/** Position of the nth event of a part, counted from 1; `undefined` where it has fewer. */
async function positionOf(pool: pg.Pool, { after, through }: LogPart, number: number) {
  const text = `
    select position from events where position > $1 and position <= $2
    order by position offset $3 limit 1`
  const values = [after, through, number - 1]
  const { rows } = await pool.query<{ position: number }>({ name: 'place in log', text, values })
  return rows[0]?.position
}

/** One for each processor, up to a few, started one by one as there are parts for them. */
class LeavesThreads {
  readonly #url: string
  readonly #most = Math.min(availableParallelism(), threadsMost)
  readonly #threads: LeavesThread[] = []
  #parts = 0

  constructor(url: string) {
    this.#url = url
  }

  get partsMax(): number {
    return this.#most * partsAhead
  }

  leavesOf(part: LogPart): Promise<NewLeaves> {
    const thread = (this.#threads[this.#parts++ % this.#most] ??= new LeavesThread(this.#url))
    return thread.leavesOf(part)
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()))
  }
}

interface Asked {
  readonly resolve: (leaves: NewLeaves) => void
  readonly reject: (error: Error) => void
}

class LeavesThread {
  readonly #worker: Worker
  /** It answers in the order in which it is asked. */
  readonly #asked: Asked[] = []
  /** Why it has ended: it answers nothing more. */
  #failure: Error | undefined

  constructor(url: string) {
    this.#worker = new Worker(filename, { workerData: { url } })
    this.#worker.on(
      'message',
      ({ positions, commitments: { buffer, byteOffset, length } }: LeavesMessage) => {
        this.#asked.shift()?.resolve({ positions, commitments: Buffer.from(buffer, byteOffset, length) })
      },
    )
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('a thread that reads the log has ended')))
  }

  leavesOf(part: LogPart): Promise<NewLeaves> {
    const leaves = new Promise<NewLeaves>((resolve, reject) => this.#asked.push({ resolve, reject }))
    // Awaited later, or not at all when an earlier one has failed.
    leaves.catch(() => undefined)
    if (this.#failure) this.#fail(this.#failure)
    else this.#worker.postMessage(part)
    return leaves
  }

  /** Whatever it is doing. */
  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const { reject } of this.#asked.splice(0)) reject(error)
  }
}
