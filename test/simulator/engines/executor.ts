import { Refusal, refusals } from '../../../packages/contract/refusals.ts'
import type { AnyDecider } from '../../../packages/kernel/decider.ts'
import { Executor } from '../../../packages/kernel/execution/execute.ts'
import type { PendingCommand, ExecutorOptions, Outcome } from '../../../packages/kernel/execution/options.ts'
import { OutcomeUnknownError, StoreOverloadedError } from '../../../packages/kernel/ports.ts'
import { RailTimeoutError, RailUnavailableError } from '../../../packages/kernel/ports/rails.ts'
import type { Stage } from '../stage.ts'

/** Which events each sending has left in the log, by the mark that it puts into their metadata. */
export interface SendingWitness {
  eventsOf(mark: string): number
}

/**
 * The real executor, watched: what it answers must be what the log says. Each sending marks its events, so
 * that an append which was answered as failed and has happened, or happened twice, is found.
 */
export class WatchedExecutor extends Executor {
  readonly #stage: Stage
  readonly #witness: SendingWitness

  constructor(options: ExecutorOptions, stage: Stage, witness: SendingWitness) {
    super(options)
    this.#stage = stage
    this.#witness = witness
  }

  override async sendAll(
    decider: AnyDecider,
    id: string,
    commands: readonly PendingCommand[],
  ): Promise<Outcome<unknown>> {
    const mark = this.#stage.newId()
    const marked = commands.map(({ command, envelope }) => ({
      command,
      envelope: { ...envelope, request: mark },
    }))
    const what = `${commands.map(({ command }) => command.type).join(', ')} to ${decider.category}-${id}`
    let outcome: Outcome<unknown>
    try {
      outcome = await super.sendAll(decider, id, marked)
    } catch (error) {
      this.#checkFailure(error, mark, what)
      throw error
    }
    const happened = this.#witness.eventsOf(mark)
    if (happened !== outcome.appended) {
      this.#stage.violate(
        'R6',
        `${what} was answered with ${outcome.appended} events, the log has ${happened}`,
      )
    }
    return outcome
  }

  #checkFailure(error: unknown, mark: string, what: string): void {
    this.#stage.note(() => `  ${what}: ${String(error)}`)
    if (error instanceof OutcomeUnknownError) return
    if (this.#witness.eventsOf(mark) > 0)
      this.#stage.violate('R6', `${what} has happened and was answered: ${String(error)}`)
  }
}

/** What a caller may be answered instead of a result, whatever fails. */
export function isForeseen(error: unknown): boolean {
  if (error instanceof Refusal) return refusals[error.reason][0] !== 500
  if (error instanceof RailTimeoutError || error instanceof RailUnavailableError) return true
  return error instanceof OutcomeUnknownError || error instanceof StoreOverloadedError
}
