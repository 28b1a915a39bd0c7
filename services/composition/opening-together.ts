import { setTimeout as pause } from 'node:timers/promises'
import { OutcomeUnknownError, StoreAwayError } from '../../packages/kernel/ports.ts'
import { isAway } from './observing/failures.ts'

const everyMs = 250
/** What hangs on one engine, such as a migration that waits for another process, keeps no other one open. */
const endingMs = 5_000

interface Engine {
  close(): Promise<void>
}

/** What a start does with its engines, as soon as they are up. */
export interface Opening {
  /** Opens an engine; one that is up and refuses, for example a password, fails at once. */
  readonly open: <Opened extends Engine>(open: () => Promise<Opened>) => Promise<Opened>
  /** Does what may be repeated: while others are waited for, an engine that was up can go away again. */
  readonly repeat: <Result>(work: () => Promise<Result>) => Promise<Result>
}

export interface OpeningLimits {
  readonly waitSeconds: number
  /** Ends the start at once. */
  readonly ending?: AbortSignal | undefined
}

/**
 * Opens engines at the same time and within one deadline. The first that refuses ends it at once. When time
 * runs out, throws the sentences of all that are away. A failed start leaves none open.
 */
export async function openingTogether<Result>(
  { waitSeconds, ending }: OpeningLimits,
  start: (opening: Opening) => Promise<Result>,
): Promise<Result> {
  ending?.throwIfAborted()
  const waiting = new Waiting(waitSeconds)
  try {
    const starting = start({
      open: (open) => waiting.begin(async () => waiting.kept(await open())),
      repeat: (work) => waiting.begin(() => naming(work)),
    })
    return await (ending ? Promise.race([starting, aborted(ending)]) : starting)
  } catch (error) {
    throw await waiting.end(error)
  }
}

/** Still away when time ran out. */
class EngineLateError extends Error {
  override readonly cause: Error

  constructor(cause: Error) {
    super(cause.message)
    this.cause = cause
  }
}

/** Was up, and is not at present. */
class AwayAgainError extends Error {
  constructor(cause: Error) {
    const { message } = cause.cause instanceof Error ? cause.cause : cause
    super(`An engine that was up is away again: ${message}`, { cause })
  }
}

class Waiting {
  readonly #waitSeconds: number
  readonly #until: number
  readonly #ending = new AbortController()
  readonly #begun: Promise<unknown>[] = []
  readonly #opened: Engine[] = []
  readonly #late: Error[] = []

  constructor(waitSeconds: number) {
    this.#waitSeconds = waitSeconds
    this.#until = performance.now() + waitSeconds * 1_000
  }

  begin<Result>(attempt: () => Promise<Result>): Promise<Result> {
    const begun = this.#untilThere(attempt)
    begun.catch(() => undefined)
    this.#begun.push(begun)
    return begun
  }

  /** One that was on its way when the start failed is not wanted any more. */
  async kept<Opened extends Engine>(engine: Opened): Promise<Opened> {
    if (this.#ending.signal.aborted) await engine.close()
    else this.#opened.push(engine)
    return engine
  }

  /** Closes what is open, and returns the error to throw. */
  async end(error: unknown): Promise<unknown> {
    // The others end as well, each with its sentence.
    if (error instanceof EngineLateError) await inTime(Promise.allSettled(this.#begun))
    this.#ending.abort()
    for (const engine of this.#opened.toReversed()) await inTime(engine.close())
    if (!(error instanceof EngineLateError)) return error
    return this.#late.length === 1 ? error.cause : new Error(sentencesOf(this.#late))
  }

  async #untilThere<Result>(attempt: () => Promise<Result>): Promise<Result> {
    const { signal } = this.#ending
    for (let isTold = false; ; isTold = true) {
      try {
        return await attempt()
      } catch (error) {
        if (!isComing(error)) throw error
        if (signal.aborted || performance.now() >= this.#until) throw this.#tooLate(error)
        if (!isTold) process.stderr.write(`${error.message}; waiting up to ${this.#waitSeconds} s for it\n`)
        await pause(everyMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  #tooLate(error: Error): EngineLateError {
    this.#late.push(error)
    return new EngineLateError(error)
  }
}

function aborted(ending: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    ending.addEventListener('abort', () => reject(ending.reason as Error), { once: true })
  })
}

async function inTime(work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  await Promise.race([work, pause(endingMs, undefined, { signal: done.signal })]).finally(() => done.abort())
}

function sentencesOf(errors: readonly Error[]): string {
  return errors.map(({ message }) => message).join('\n')
}

/** Whoever opens an engine says which one it is; a query that fails does not. */
async function naming<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw isComing(error) ? new AwayAgainError(error) : error
  }
}

/** Engines say in one sentence that they cannot be reached; the cause says why. */
function isComing(error: unknown): error is Error {
  if (error instanceof AwayAgainError || error instanceof OutcomeUnknownError) return true
  if (error instanceof StoreAwayError && !error.mayPass) return false
  return error instanceof Error && (isAway(error) || isAway(error.cause ?? error) || isKafkaAway(error.cause))
}

/** The client wraps the original error; a missing permission is reported by name. */
function isKafkaAway(cause: unknown): boolean {
  const { name = '' } = (cause ?? {}) as { readonly name?: string }
  return name.startsWith('KafkaJS') && !/SASL|Authentication|Authorization/.test(name)
}
