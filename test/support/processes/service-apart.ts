import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { nodeArguments } from './child-process.ts'

export type ServiceName =
  'api' | 'processes' | 'projector' | 'relay' | 'notary' | 'webhooks' | 'sandbox' | 'setup' | 'distributed'

export interface Readiness {
  readonly status: number
  readonly body: {
    readonly status: string
    readonly dependencies: Readonly<Record<string, { readonly status: string; readonly reason?: string }>>
    readonly leads?: Readonly<Record<string, boolean>>
  }
}

export interface ApartOptions {
  /** Whether a supervisor has already announced what is unusual. */
  readonly isSupervised?: boolean
  /** A file other than the service's own, as a path from the root of the code without extension. */
  readonly file?: string
  /** How far its clock is wrong. */
  readonly clockSkewMs?: number
}

/** One service as operators start it: a process of its own. */
export class ServiceApart {
  readonly name: ServiceName
  readonly instance: string
  /** How it ended: its code, or nothing after a signal. */
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess
  readonly #port: Promise<number>
  /** The API answers health requests on a port of its own. */
  readonly #healthPort: Promise<number>
  #output = ''
  #errors = ''

  constructor(
    t: Pick<Test, 'teardown'>,
    name: ServiceName,
    environment: Readonly<Record<string, string>>,
    options: ApartOptions = {},
  ) {
    this.name = name
    this.instance = environment['INSTANCE'] ?? name
    const { PATH = '', JAVA_HOME = '', HOME = '' } = process.env
    const { clockSkewMs = 0 } = options
    const env = { PATH, JAVA_HOME, HOME, CLOCK_SKEW_MS: String(clockSkewMs), ...environment }
    const own = `services/${name}/${name === 'distributed' ? 'main' : 'serve'}`
    const preloads = clockSkewMs === 0 ? [] : ['test/support/skewed-clock']
    const parameters = nodeArguments(options.file ?? own, ...preloads)
    // A channel that ends with the test, so that nothing survives a killed test.
    const channel = options.isSupervised === false ? 'ignore' : 'ipc'
    this.#child = spawn(process.execPath, [...parameters], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', channel],
    })
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#errors += text))
    this.ended = once(this.#child, 'close').then(([code]) => code as number | null)
    const told = new Promise<RegExpExecArray>((resolve, reject) => {
      this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
        const ports = /ready: http:\/\/localhost:(\d+).*?(?:health on http:\/\/localhost:(\d+).*)?\n/.exec(
          this.#output,
        )
        if (ports) resolve(ports)
      })
      void this.ended.then(() => reject(new Error(`${this.instance} has ended: ${this.#errors}`)))
    })
    this.#port = told.then(([, port]) => Number(port))
    this.#healthPort = told.then(([, port, healthPort = port]) => Number(healthPort))
    // Whoever asks for the port is told; a service that only sets up has none.
    for (const port of [this.#port, this.#healthPort]) port.catch(() => undefined)
    t.teardown(() => this.end('SIGKILL'))
  }

  get output(): string {
    return this.#output
  }

  get errors(): string {
    return this.#errors
  }

  /** The port that it prints; rejects when it exits instead. */
  port(): Promise<number> {
    return this.#port
  }

  async readiness(): Promise<Readiness> {
    const response = await fetch(`http://127.0.0.1:${await this.#healthPort}/readyz`)
    return { status: response.status, body: (await response.json()) as Readiness['body'] }
  }

  /** As the leader of the role it is named after. */
  async leads(): Promise<boolean> {
    return (await this.readiness()).body.leads?.[this.name] ?? false
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.signal(signal)
    return this.ended
  }
}
