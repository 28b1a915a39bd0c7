import { setTimeout as pause } from 'node:timers/promises'
import { StoreAwayError } from '../../packages/kernel/ports.ts'
import { isAway } from './observing/failures.ts'

const everyMs = 250

interface Engine {
  close(): Promise<void>
}

/** Opens an engine as soon as it is up; one that is up and refuses, for example a password, at once fails. */
export type WaitFor = <Opened extends Engine>(open: () => Promise<Opened>) => Promise<Opened>

/**
 * Opens engines at the same time and within one deadline. The first that refuses ends it at once. When time
 * runs out, throws the sentences of all that are away. A failed start leaves none open.
 */
export async function openingTogether<Result>(
  waitSeconds: number,
  start: (waitFor: WaitFor) => Promise<Result>,
): Promise<Result> {
  const waiting = new Waiting(waitSeconds)
  try {
    return await start((open) => waiting.for(open))
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

class Waiting {
  readonly #waitSeconds: number
  readonly #until: number
  readonly #ending = new AbortController()
  readonly #opening: Promise<Engine>[] = []
  readonly #opened: Engine[] = []
  readonly #late: Error[] = []

  constructor(waitSeconds: number) {
    this.#waitSeconds = waitSeconds
    this.#until = performance.now() + waitSeconds * 1_000
  }

  for<Opened extends Engine>(open: () => Promise<Opened>): Promise<Opened> {
    const opening = this.#untilOpen(open)
    opening.catch(() => undefined)
    this.#opening.push(opening)
    return opening
  }

  /** Closes what is open, and returns the error to throw. */
  async end(error: unknown): Promise<unknown> {
    // The others end as well, each with its sentence.
    if (error instanceof EngineLateError) await Promise.allSettled(this.#opening)
    this.#ending.abort()
    for (const engine of this.#opened.toReversed()) await engine.close()
    if (!(error instanceof EngineLateError)) return error
    return this.#late.length === 1 ? error.cause : new Error(sentencesOf(this.#late))
  }

  async #untilOpen<Opened extends Engine>(open: () => Promise<Opened>): Promise<Opened> {
    const { signal } = this.#ending
    for (let isTold = false; ; isTold = true) {
      try {
        return await this.#kept(await open())
      } catch (error) {
        if (!isComing(error)) throw error
        if (signal.aborted || performance.now() >= this.#until) throw this.#tooLate(error)
        if (!isTold) process.stderr.write(`${error.message}; waiting up to ${this.#waitSeconds} s for it\n`)
        await pause(everyMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /** One that was on its way when the start failed is not wanted any more. */
  async #kept<Opened extends Engine>(engine: Opened): Promise<Opened> {
    if (this.#ending.signal.aborted) await engine.close()
    else this.#opened.push(engine)
    return engine
  }

  #tooLate(error: Error): EngineLateError {
    this.#late.push(error)
    return new EngineLateError(error)
  }
}

function sentencesOf(errors: readonly Error[]): string {
  return errors.map(({ message }) => message).join('\n')
}

/** Engines say in one sentence that they cannot be reached; the cause says why. */
function isComing(error: unknown): error is Error {
  if (error instanceof StoreAwayError && !error.mayPass) return false
  return error instanceof Error && (isAway(error) || isAway(error.cause ?? error) || isKafkaAway(error.cause))
}

/** The client wraps the original error; a missing permission is reported by name. */
function isKafkaAway(cause: unknown): boolean {
  const { name = '' } = (cause ?? {}) as { readonly name?: string }
  return name.startsWith('KafkaJS') && !/SASL|Authentication|Authorization/.test(name)
}
