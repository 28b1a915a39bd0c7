import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'

export interface ChildOptions {
  /** Prefixed to each line of its output. */
  readonly name: string
  readonly file: string
  readonly environment: NodeJS.ProcessEnv
  /** So long it may serve on when it is told to end, as its own settings say. */
  readonly drainSeconds: number
  /** What it may take to end besides. Default: less than what its supervisor has for all its stop. */
  readonly stopMostMs?: number
}

const restartMs = { first: 500, most: 30_000 }
/** A process that has run this long started well: its next end counts as a new problem. */
const steadyMs = 60_000
const stopMostMsUsual = 30_000

/** A process that is restarted when it ends on its own. */
export class Child {
  readonly #options: ChildOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #process: ChildProcess | undefined

  constructor(options: ChildOptions) {
    this.#options = options
    this.#running = this.#keepRunning()
  }

  get name(): string {
    return this.#options.name
  }

  /** Asks it to end; kills it when it does not, and then throws. */
  async stop(): Promise<void> {
    const { name, drainSeconds, stopMostMs = stopMostMsUsual } = this.#options
    const mostMs = drainSeconds * 1_000 + stopMostMs
    let isKilled = false
    this.#stopping.abort()
    this.#process?.kill('SIGTERM')
    const timer = setTimeout(() => {
      this.#say(process.stderr, `has not ended within ${Math.round(mostMs / 1_000)} s, and is killed`)
      isKilled = this.#process?.kill('SIGKILL') ?? false
    }, mostMs)
    await this.#running
    clearTimeout(timer)
    if (isKilled) throw new Error(`${name} did not end by itself`)
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#stopping
    let delayMs = restartMs.first
    while (!signal.aborted) {
      const startedAt = performance.now()
      // One that cannot be started now, as while Node is being upgraded, can be later.
      const ending = await this.#run().catch((error: unknown) => (error as Error).message)
      if (signal.aborted) return
      if (performance.now() - startedAt > steadyMs) delayMs = restartMs.first
      this.#say(process.stderr, `ended with ${ending}, starts again in ${delayMs} ms`)
      await pause(delayMs, undefined, { signal }).catch(() => undefined)
      delayMs = Math.min(2 * delayMs, restartMs.most)
    }
  }

  /** Reports how it ended. It notices its parent's end by the closing of its channel. */
  async #run(): Promise<string> {
    const { file, environment } = this.#options
    const parameters = [...process.execArgv, file]
    const child = spawn(process.execPath, parameters, {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#process = child
    const exited = once(child, 'exit')
    // One that cannot be started because too many files are open has no output.
    if (child.stdout) this.#relay(child.stdout, process.stdout)
    if (child.stderr) this.#relay(child.stderr, process.stderr)
    const [code, by] = (await exited) as [number | null, string | null]
    return by ?? `code ${code}`
  }

  #relay(from: Readable, to: NodeJS.WriteStream): void {
    createInterface({ input: from }).on('line', (line) => this.#say(to, line))
  }

  #say(to: NodeJS.WriteStream, line: string): void {
    to.write(`${this.#options.name.padEnd(12)}| ${line}\n`)
  }
}
