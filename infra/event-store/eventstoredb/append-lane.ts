import { OutcomeUnknownError } from '../../../packages/kernel/ports.ts'
import type { AppendAnswer, AppendOutcome, AppendRequest } from './append-messages.ts'
import type { AppendCall, Calls } from './calls.ts'
import { timedOut, wasRefused, retryWhileAway } from './errors.ts'

interface Pending {
  readonly stream: string
  readonly resolve: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

/** One call, and the appends that wait for its answers. */
interface OpenLane {
  readonly call: AppendCall
  readonly pending: Map<number, Pending>
}

export type AppendWithoutNumber = Omit<AppendRequest, 'number'>

/**
 * Appends over one call at a time. When it breaks, the outcome of those waiting for its answers is unknown,
 * and of no others; the next append opens another call. An answer that nobody waits for any more is dropped.
 */
export class AppendLane {
  readonly #calls: Pick<Calls, 'openAppends'>
  readonly #timeoutMs: number
  #opening: Promise<OpenLane> | undefined
  #number = 0

  constructor(calls: Pick<Calls, 'openAppends'>, timeoutMs: number) {
    this.#calls = calls
    this.#timeoutMs = timeoutMs
  }

  /** Rejects with OutcomeUnknownError, or with StoreAwayError when nothing was sent. */
  async append(append: AppendWithoutNumber): Promise<AppendOutcome> {
    const { call, pending } = await (this.#opening ??= this.#open())
    const number = ++this.#number
    return new Promise((resolve, reject) => {
      const { stream } = append
      const timer = setTimeout(() => {
        pending.delete(number)
        reject(new OutcomeUnknownError(stream, timedOut(this.#timeoutMs)))
      }, this.#timeoutMs)
      pending.set(number, { stream, resolve, reject, timer })
      call.send({ ...append, number })
    })
  }

  async #open(): Promise<OpenLane> {
    const pending = new Map<number, Pending>()
    try {
      let hasAnswered = false
      const onAnswer = (answer: AppendAnswer) => {
        hasAnswered = true
        settle(pending, answer)
      }
      const call = await retryWhileAway(() => this.#calls.openAppends(onAnswer))
      const over = (error: unknown) => {
        this.#opening = undefined
        const isRefused = !hasAnswered && wasRefused(error)
        fail(pending, (stream) => (isRefused ? error : new OutcomeUnknownError(stream, error)))
      }
      call.ended.then(() => over(new Error('EventStoreDB has ended the call')), over)
      return { call, pending }
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }
}

function settle(pending: Map<number, Pending>, { number, outcome }: AppendAnswer): void {
  const append = pending.get(number)
  if (!append) return
  pending.delete(number)
  clearTimeout(append.timer)
  append.resolve(outcome)
}

function fail(pending: Map<number, Pending>, errorFor: (stream: string) => unknown): void {
  for (const { stream, reject, timer } of pending.values()) {
    clearTimeout(timer)
    reject(errorFor(stream))
  }
  pending.clear()
}
