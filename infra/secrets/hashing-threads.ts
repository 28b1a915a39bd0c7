import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import type { Guess } from './password-hashing.ts'

type Task = 'hash' | 'isEqual'

/** So that threads last from one sign-in to the next, and a quiet service has none. */
const idleMs = 60_000

/** `.ts` where the program runs from its sources. */
const filename = fileURLToPath(new URL(`./password-hashing${import.meta.url.slice(-3)}`, import.meta.url))

/**
 * Threads that hash, as many as there is work for at a time. One that cannot start, for want of memory, files
 * or processes, fails its own work and nothing else.
 */
export class HashingThreads {
  readonly #resting: HashingThread[] = []

  async run(task: Task, given: string | Guess): Promise<unknown> {
    const thread = this.#resting.pop() ?? new HashingThread()
    try {
      return await thread.run(task, given)
    } finally {
      if (!thread.isLost) this.#resting.push(thread)
    }
  }
}

/**
 * A pool of one thread, which begins with its first work and ends when there has been none for long. Pools of
 * several start a thread also while they handle the end of another one, where nobody hears that it failed.
 */
class HashingThread {
  readonly #pool = new Piscina({ filename, minThreads: 0, maxThreads: 1, idleTimeout: idleMs })
  #isWorking = false
  #failure: Error | undefined
  /** What was asked of it may still wait in it, so it is asked nothing more. */
  isLost = false

  constructor() {
    this.#pool.on('error', (error: Error) => (this.#failure = error))
    this.#pool.on('workerDestroy', () => {
      if (!this.#isWorking) return
      // Otherwise its work would wait for another thread.
      this.isLost = true
      void this.#pool.destroy()
    })
  }

  async run(name: Task, given: string | Guess): Promise<unknown> {
    // Of an earlier thread, which had nothing to do.
    this.#failure = undefined
    const done = this.#begin(name, given)
    this.#isWorking = true
    try {
      return await done
    } catch (error) {
      throw this.#failure ?? error
    } finally {
      this.#isWorking = false
    }
  }

  #begin(name: Task, given: string | Guess): Promise<unknown> {
    try {
      return this.#pool.run(given, { name })
    } catch (error) {
      this.isLost = true
      throw error
    }
  }
}
