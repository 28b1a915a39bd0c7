import { magicValueOf } from '../../packages/contract/payments/sandbox.ts'
import type { Clock, Subscription } from '../../packages/kernel/ports.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type RailCallback,
  type RailRoute,
  type RailRequest,
  type RailState,
  type SandboxRail,
} from '../../packages/kernel/ports/rails.ts'
import type { KnownOperation, SandboxBook, Script, Step } from './sandbox-book.ts'
import { SandboxCallbacks } from './sandbox-callbacks.ts'
import { sandboxDelaysMs, scriptOf, type SandboxDelays } from './sandbox-script.ts'

export interface SandboxOptions {
  readonly book: SandboxBook
  readonly clock: Clock
  /** The page on which a payer plays the wallet or the card's bank; `/<reference>` is appended. */
  readonly redirectBase: string
  /** Shorter ones for tests. */
  readonly delaysMs?: Partial<SandboxDelays>
  /** Fault injection: these requests are carried out, but their answers are lost. */
  readonly answerLate?: (request: RailRequest) => boolean
  /** Fault injection: how often each callback is repeated although it was accepted. */
  readonly repeatCallbacks?: number
  readonly onError?: (error: unknown) => void
}

/** Possible ends of an operation. */
const endings: ReadonlySet<RailState['state']> = new Set(['succeeded', 'failed', 'returned'])

/** Operators, card acquirers and banks, controlled by magic numbers and test triggers. No money moves. */
export class SimulatedOperators implements SandboxRail {
  readonly #options: SandboxOptions
  readonly #delaysMs: SandboxDelays

  constructor(options: SandboxOptions) {
    this.#options = options
    this.#delaysMs = { ...sandboxDelaysMs, ...options.delaysMs }
  }

  async submit(request: RailRequest): Promise<RailState> {
    const { book, clock, redirectBase, answerLate } = this.#options
    const script = scriptOf(request, `${redirectBase}/${request.reference}`, this.#delaysMs)
    if (!script) throw new RailUnavailableError('the simulated operator is down')
    const submission = { request, script: this.#withRepeats(script), now: clock() }
    const state = await book.submit(submission).catch((cause: unknown) => {
      throw new RailTimeoutError(`nobody knows whether ${request.reference} was submitted`, { cause })
    })
    if (answerLate?.(request)) throw new RailTimeoutError(`the answer to ${request.reference} was lost`)
    return state
  }

  async status(reference: string): Promise<RailState> {
    const known = await this.#known(reference)
    if (!known) return { state: 'never_received' }
    if (!known.answers && !endings.has(known.state.state)) {
      throw new RailTimeoutError(`the simulated operator does not answer about ${reference}`)
    }
    return known.state
  }

  async health({ method }: Pick<RailRoute, 'method'>): Promise<'up' | 'degraded' | 'down'> {
    return magicValueOf(method)?.behaviour === 'is_down' ? 'down' : 'up'
  }

  onCallback(handle: (callback: RailCallback) => Promise<void>): Subscription {
    const { book, clock, onError = () => undefined } = this.#options
    return new SandboxCallbacks({ book, clock, handle, onError })
  }

  /** Ends an operation once; one that is submitted later then ends as it was resolved. */
  async resolve(reference: string, result: RailState): Promise<RailState> {
    if (!endings.has(result.state)) throw new TypeError(`an operation cannot end as ${result.state}`)
    return this.#options.book.resolve(reference, result, this.#options.clock())
  }

  /** Records that cannot be reached are an operator that does not answer. */
  async #known(reference: string): Promise<KnownOperation | undefined> {
    const { book, clock } = this.#options
    try {
      const known = await book.find(reference)
      const now = clock()
      if (!known?.dueAt || Date.parse(known.dueAt) > now.getTime()) return known
      await book.advance({ now, limit: 1, reference })
      return await book.find(reference)
    } catch (cause) {
      throw new RailTimeoutError('the book of the simulated operators cannot be reached', { cause })
    }
  }

  #withRepeats(script: Script): Script {
    const { repeatCallbacks = 0 } = this.#options
    const repeat = (step: Step) => ({ ...step, callbacks: step.callbacks * (1 + repeatCallbacks) })
    return repeatCallbacks === 0 ? script : { ...script, steps: script.steps.map(repeat) }
  }
}
