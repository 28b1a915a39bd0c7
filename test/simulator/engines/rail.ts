import { magicValueOf } from '../../../packages/contract/payments/sandbox.ts'
import type { Subscription } from '../../../packages/kernel/ports.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type RailCallback,
  type RailRequest,
  type RailState,
  type PaymentRails,
  type SandboxRail,
} from '../../../packages/kernel/ports/rails.ts'
import type { Script } from '../../../infra/rails/sandbox-book.ts'
import { sandboxDelaysMs, scriptOf } from '../../../infra/rails/sandbox-script.ts'
import { nobody, type Life } from '../scheduler.ts'
import type { Stage } from '../stage.ts'

type Handle = (callback: RailCallback) => Promise<void>

interface Operation {
  readonly request: RailRequest | undefined
  readonly answers: boolean
  state: RailState
  steps: Script['steps']
}

/** What the laws want to hear of the operators. */
export interface RailWitness {
  called(request: RailRequest): void
  received(request: RailRequest): void
  /** Played: a merchant of the sandbox said so before the request came. */
  moved(request: RailRequest, how: 'executed' | 'played' | 'returned'): void
}

const endings: readonly string[] = ['succeeded', 'failed', 'returned']
const callbackRetryMs = 5_000

/**
 * The operators: each reference is executed at most once, by the scripts of the sandbox. Their answers and
 * callbacks come late, twice, never and in any order.
 */
export class SimulatedRail {
  readonly operations = new Map<string, Operation>()
  readonly #stage: Stage
  readonly #witness: RailWitness
  /** Whoever asks about an unknown reference is promised that requests sent before are not carried out. */
  readonly #deniedUpTo = new Map<string, number>()
  readonly #listeners = new Set<{ readonly life: Life; readonly handle: Handle }>()
  readonly #lost: RailCallback[] = []
  #calls = 0

  constructor(stage: Stage, witness: RailWitness) {
    this.#stage = stage
    this.#witness = witness
  }

  /** The operators as one process reaches them. */
  reachedFrom(life: Life): SandboxRail & PaymentRails {
    const { scheduler } = this.#stage
    return {
      serves: () => true,
      submit: (request) => this.#submit(life, request),
      status: (reference) => this.#status(life, reference),
      health: ({ method }) =>
        scheduler.call(life, () => (magicValueOf(method)?.behaviour === 'is_down' ? 'down' : 'up')),
      resolve: (reference, result) => scheduler.call(life, () => this.#resolve(reference, result)),
      onCallback: (handle) => this.#listen(life, handle),
    }
  }

  #submit(life: Life, request: RailRequest): Promise<RailState> {
    const { scheduler } = this.#stage
    const { random, faults } = scheduler
    const number = ++this.#calls
    const fate = random.chance(faults.faultyOperator)
      ? random.pick(['down', 'lost', 'silent', 'late'] as const)
      : 'fine'
    this.#witness.called(request)
    this.#stage.note(() => `  ${life.name} submits ${request.kind} ${request.reference}: ${fate}`)
    return scheduler.call(life, () => {
      if (fate === 'down') throw new RailUnavailableError('the operator is down')
      if (fate === 'late')
        scheduler.after(random.below(120_000), nobody, () => this.#receiveLate(request, number))
      if (fate === 'lost' || fate === 'late') throw new RailTimeoutError('no answer')
      const state = this.#receive(request, number)
      if (fate === 'silent' || !state) throw new RailTimeoutError('no answer')
      return state
    })
  }

  #receiveLate(request: RailRequest, number: number): void {
    try {
      this.#receive(request, number)
    } catch (error) {
      if (!(error instanceof RailUnavailableError)) throw error
    }
  }

  /** `undefined` for a request that came too late; throws RailUnavailableError for one that is not taken. */
  #receive(request: RailRequest, number: number): RailState | undefined {
    const { reference } = request
    const known = this.operations.get(reference)
    if (known?.request) return known.state
    if (number <= (this.#deniedUpTo.get(reference) ?? 0)) return undefined
    const script = scriptOf(request, `https://pay.example/${reference}`, sandboxDelaysMs)
    if (!script) throw new RailUnavailableError('the operator is down')
    const { state, steps, answers } = known ? { state: known.state, steps: [], answers: true } : script
    const operation: Operation = { request, state, steps, answers }
    this.operations.set(reference, operation)
    if (!known) this.#witness.received(request)
    if (state.state === 'succeeded') this.#witness.moved(request, known ? 'played' : 'executed')
    this.#planStep(operation)
    return state
  }

  #planStep(operation: Operation): void {
    const [step] = operation.steps
    if (!step) return
    this.#stage.scheduler.after(step.afterMs, nobody, () => {
      if (operation.steps[0] !== step) return
      operation.steps = operation.steps.slice(1)
      this.#enter(operation, step.state)
      for (let nth = 0; nth < step.callbacks; nth++) this.#planCallback(operation)
      this.#planStep(operation)
    })
  }

  #enter(operation: Operation, state: RailState): void {
    operation.state = state
    const { request } = operation
    if (!request) return
    this.#stage.note(() => `  the operator of ${request.reference} says ${state.state}`)
    if (state.state === 'succeeded') this.#witness.moved(request, 'executed')
    if (state.state === 'returned') this.#witness.moved(request, 'returned')
  }

  #planCallback({ request, state }: Operation): void {
    const { random, faults } = this.#stage.scheduler
    if (!request) return
    const { reference, kind, merchant, livemode } = request
    const callback = { reference, kind, merchant, livemode, result: state }
    if (random.chance(faults.lostCallback)) return void this.#lost.push(callback)
    const times = random.chance(faults.repeatedCallback) ? 2 : 1
    for (let nth = 0; nth < times; nth++) {
      const delayMs = random.below(random.chance(faults.lateCallback) ? 6 * 3_600_000 : 2_000)
      this.#stage.scheduler.after(delayMs, nobody, () => void this.#callBack(callback))
    }
  }

  /**
   * Callbacks come at least once: of what nobody asks about any more, operators tell again when they compare
   * their books. What is still asked about stays lost.
   */
  reconcile(isAskedAbout: (reference: string) => boolean): void {
    const lost = this.#lost.splice(0)
    for (const callback of lost) {
      if (!isAskedAbout(callback.reference)) void this.#callBack(callback)
    }
  }

  /** A callback that nobody takes comes again. */
  async #callBack(callback: RailCallback): Promise<void> {
    const { scheduler, note } = this.#stage
    const listeners = [...this.#listeners].filter(({ life }) => life.alive)
    const listener = listeners[scheduler.random.below(listeners.length)]
    const again = () => scheduler.after(callbackRetryMs, nobody, () => void this.#callBack(callback))
    note(
      () =>
        `  callback ${callback.result.state} of ${callback.reference} to ${listener?.life.name ?? 'nobody'}`,
    )
    if (!listener) return again()
    let isAnswered = false
    // Whoever dies with a callback in its hands has not accepted it.
    const watch = () => {
      if (isAnswered) return
      if (listener.life.alive) scheduler.after(callbackRetryMs, nobody, watch)
      else again()
    }
    scheduler.after(callbackRetryMs, nobody, watch)
    await listener.handle(callback).catch(again)
    isAnswered = true
  }

  #listen(life: Life, handle: Handle): Subscription {
    const listener = { life, handle }
    this.#listeners.add(listener)
    return { close: async () => void this.#listeners.delete(listener) }
  }

  #status(life: Life, reference: string): Promise<RailState> {
    const { scheduler } = this.#stage
    const isSilent = scheduler.random.chance(scheduler.faults.faultyOperator)
    return scheduler.call(life, () => {
      const known = this.operations.get(reference)
      if (isSilent || (known && !known.answers && !endings.includes(known.state.state))) {
        throw new RailTimeoutError('the operator does not answer')
      }
      if (known) return known.state
      this.#deniedUpTo.set(reference, this.#calls)
      return { state: 'never_received' }
    })
  }

  #resolve(reference: string, result: RailState): RailState {
    const known = this.operations.get(reference)
    if (!known) {
      this.operations.set(reference, { request: undefined, answers: true, state: result, steps: [] })
      return result
    }
    const isOpen = known.state.state === 'pending' || known.state.state === 'redirect'
    if (!isOpen) return known.state
    known.steps = []
    this.#enter(known, result)
    return result
  }
}
