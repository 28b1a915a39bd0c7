import type { Log } from '../../packages/kernel/ports.ts'

export interface RoutineOptions {
  readonly name: string
  readonly everyMs: number
  /** Never runs twice at once. */
  readonly run: () => Promise<unknown>
  readonly log: Log
}

/** Work done periodically, and at once when some is announced. Failures are retried. */
export class Routine {
  readonly #options: RoutineOptions
  readonly #stopped: Promise<void>
  #stopping = false
  #woken = false
  #endPause: () => void = () => undefined

  constructor(options: RoutineOptions) {
    this.#options = options
    this.#stopped = this.#repeat()
  }

  wake(): void {
    this.#woken = true
    this.#endPause()
  }

  /** Resolves when the current run has ended. */
  stop(): Promise<void> {
    this.#stopping = true
    this.#endPause()
    return this.#stopped
  }

  async #repeat(): Promise<void> {
    const { run, log, name } = this.#options
    while (!this.#stopping) {
      this.#woken = false
      try {
        await run()
      } catch (error) {
        log.warn({ error, routine: name }, 'a routine of the webhook service failed and is repeated')
        this.#woken = false
      }
      if (!this.#woken && !this.#stopping) await this.#pause()
    }
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#options.everyMs)
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#endPause = () => undefined
  }
}
