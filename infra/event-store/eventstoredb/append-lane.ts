import { OutcomeUnknownError } from '../../../packages/kernel/ports.ts'
import type { AppendAnswer, AppendOutcome, AppendRequest } from './messages/append.ts'
import type { AppendCall, Calls } from './calls.ts'
import { refusalOfCall, retryWhileAway, timedOut } from './errors.ts'

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
  readonly hasEnded: () => boolean
}

export interface AppendLaneOptions {
  readonly calls: Pick<Calls, 'openAppends'>
  /** Throws when the server has lost events that this process knows. */
  readonly requireSameLog: () => Promise<void>
  readonly onEnded: () => void
  /** So long an append may take before its outcome counts as unknown. */
  readonly timeoutMs: number
}

const callEnded = new Error('EventStoreDB has ended the call')

export type AppendWithoutNumber = Omit<AppendRequest, 'number'>

/**
 * Appends over one call at a time. When it breaks, the outcome of those waiting for its answers is unknown,
 * and of no others; the next append opens another call. An answer that nobody waits for any more is dropped.
 */
export class AppendLane {
  readonly #options: AppendLaneOptions
  #opening: Promise<OpenLane> | undefined
  #number = 0

  constructor(options: AppendLaneOptions) {
    this.#options = options
  }

  /**
   * Rejects with OutcomeUnknownError, or with another error when nothing was written: the server is away, or
   * refuses all appends of this user. The append is made once the lane is open, by when the server may be
   * another one; undefined when it is not to be sent any more.
   */
  async append(make: () => AppendWithoutNumber | undefined): Promise<AppendOutcome | undefined> {
    const { call, pending } = await this.#openLane()
    const append = make()
    if (!append) return undefined
    const number = ++this.#number
    return new Promise((resolve, reject) => {
      const { stream } = append
      const { timeoutMs } = this.#options
      const timer = setTimeout(() => {
        pending.delete(number)
        reject(new OutcomeUnknownError(stream, timedOut(timeoutMs)))
      }, timeoutMs)
      pending.set(number, { stream, resolve, reject, timer })
      call.send({ ...append, number })
    })
  }

  /** Another one where it has ended before anything was sent over it. */
  async #openLane(): Promise<OpenLane> {
    for (;;) {
      const lane = await (this.#opening ??= this.#open())
      if (!lane.hasEnded()) return lane
    }
  }

  async #open(): Promise<OpenLane> {
    try {
      return await retryWhileAway(() => this.#begin())
    } catch (error) {
      this.#opening = undefined
      throw refusalOfCall(error) ?? error
    }
  }

  async #begin(): Promise<OpenLane> {
    const pending = new Map<number, Pending>()
    let [hasAnswered, hasEnded] = [false, false]
    const call = await this.#options.calls.openAppends((answer: AppendAnswer) => {
      hasAnswered = true
      settle(pending, answer)
    })
    await this.#sameLog(call)
    const over = (error: unknown) => {
      hasEnded = true
      this.#options.onEnded()
      this.#opening = undefined
      // A call that was begun may have written what it has not answered.
      const refusal = hasAnswered ? undefined : refusalOfCall(error, pending.size)
      fail(pending, (stream) => refusal ?? new OutcomeUnknownError(stream, error))
    }
    call.ended.then(() => over(callEnded), over)
    return { call, pending, hasEnded: () => hasEnded }
  }

  /** Who answers may be another server than before, or one that was restored. */
  async #sameLog(call: AppendCall): Promise<void> {
    const ended = call.ended.then(() => Promise.reject(callEnded))
    try {
      await Promise.race([this.#options.requireSameLog(), ended])
    } catch (error) {
      call.cancel()
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
