import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

/** `.ts` when the tests run from their sources, `.js` when they run from `dist`. */
const extension = import.meta.url.slice(-3)

const code = new URL('../../../', import.meta.url)

/**
 * Node's arguments to run a file of this project and to preload others, all as paths from the root of the
 * code and without extension.
 */
export function nodeArguments(name: string, ...before: readonly string[]): readonly string[] {
  const url = (file: string) => new URL(file + extension, code)
  const loader = extension === '.ts' ? ['--import', 'tsx'] : []
  return [...loader, ...before.flatMap((file) => ['--import', url(file).href]), fileURLToPath(url(name))]
}

/** A script of `test/support/processes` as a process of its own, until it or the test ends. */
export class Script {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #exited: Promise<unknown>

  constructor(t: Test, name: string, parameters: readonly string[]) {
    const options = [...nodeArguments(`test/support/processes/${name}`), ...parameters]
    this.#child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] })
    if (!this.#child.stdout) throw new Error(`${name} has no output`)
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]()
    this.#exited = once(this.#child, 'exit')
    t.teardown(() => this.kill())
  }

  /** The next line of its output. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('the script ended without a word')
    return value
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}
