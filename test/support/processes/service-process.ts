import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Credentials } from '../../../services/composition/credentials.ts'
import { nodeArguments } from './child-process.ts'
import { clientOf, type MerchantClient } from '../service.ts'

export interface Ending {
  /** Null when a signal has ended it. */
  readonly code: number | null
  readonly output: string
  /** Its log, and what it printed at its end. */
  readonly errors: string
}

/** The service as its users start it: a process of its own, on embedded engines in a data directory. */
export class ServiceProcess {
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  #output = ''
  #errors = ''

  constructor(environment: Readonly<Record<string, string>>) {
    const { PATH = '', IKW_TEST_POSTGRES: _, ...rest } = process.env
    const env = { ...rest, PATH, PORT: '0', RATE_LIMIT: 'off', EGRESS_ALLOW: '127.0.0.0/8', ...environment }
    const file = nodeArguments('services/all-in-one/main')
    this.#child = spawn(process.execPath, [...file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#errors += text))
    this.ended = once(this.#child, 'close').then(([code]) => ({
      code: code as number | null,
      output: this.#output,
      errors: this.#errors,
    }))
  }

  /** Its log and failures so far. */
  get errors(): string {
    return this.#errors
  }

  /** Waits until it accepts requests; throws when it exits instead. */
  async ready(dataDirectory: string): Promise<MerchantClient> {
    let ending: Ending | undefined
    void this.ended.then((known) => (ending = known))
    for (;;) {
      const ports = [...this.#output.matchAll(/http:\/\/localhost:(\d+)(?=\n|\/readyz)/g)].map(([, port]) =>
        Number(port),
      )
      const [port, healthPort] = ports
      if (port && healthPort) return clientOf({ port, healthPort, credentials: credentialsIn(dataDirectory) })
      if (ending) throw new Error(`the service has ended: ${ending.errors}`)
      await pause(5)
    }
  }

  async end(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<Ending> {
    this.#child.kill(signal)
    return this.ended
  }
}

function credentialsIn(dataDirectory: string): Credentials {
  return JSON.parse(readFileSync(join(dataDirectory, 'credentials.json'), 'utf8')) as Credentials
}

/** Starts the service; what is left of it when the test ends is killed. */
export async function serviceProcess(
  t: Test,
  dataDirectory: string,
  environment: Readonly<Record<string, string>> = {},
) {
  const service = new ServiceProcess({ DATA_DIR: dataDirectory, ...environment })
  t.teardown(() => service.end('SIGKILL'))
  return { service, client: await service.ready(dataDirectory) }
}
