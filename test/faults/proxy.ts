import { once } from 'node:events'
import {
  connect,
  createServer,
  type AddressInfo,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net'
import { eventually } from '../support/eventually.ts'
import type { Ending } from '../support/processes/ending.ts'

export interface Delays {
  readonly toServerMs: number
  readonly toClientMs: number
}

/** Where it listens: a unix socket, or any free port of this machine. */
type Listening = { readonly path: string } | { readonly port: 0 }

const noDelays: Delays = { toServerMs: 0, toClientMs: 0 }

interface Line {
  readonly client: Socket
  readonly server: Socket
  /** Its request has gone through, and its answer will not. */
  isDoomed: boolean
}

/** What is to happen to the next connection that sends something with this mark. */
interface Cut {
  readonly mark: string
  readonly when: 'before the request' | 'before the answer'
}

/** Stands before a server, and cuts or delays what goes through it. */
export class FaultyProxy {
  readonly #server: Server
  readonly #lines = new Set<Line>()
  readonly #cuts: Cut[] = []
  #target: NetConnectOpts | undefined
  #delays = noDelays
  #done = 0

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#open(client))
  }

  /** Listens at once; whoever connects before there is a target is turned away. */
  static async listen(ending: Ending, where: Listening): Promise<FaultyProxy> {
    const proxy = new FaultyProxy()
    proxy.#server.listen('path' in where ? where : { ...where, host: '127.0.0.1' })
    await once(proxy.#server, 'listening')
    ending.teardown(() => {
      proxy.#server.close()
      proxy.cutAll()
    })
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  lead(target: NetConnectOpts): void {
    this.#target = target
  }

  /**
   * Cuts the next connection that sends something with this mark (anything for none): before it has gone
   * through, or when the server answers. Resolves when that has happened.
   */
  async cutNext(when: Cut['when'], mark = ''): Promise<void> {
    const before = this.#done
    this.#cuts.push({ mark, when })
    await eventually(
      async () => this.#done,
      (done) => done > before,
    )
  }

  cutAll(): void {
    for (const line of [...this.#lines]) this.#cut(line)
  }

  /** Whatever arrives from now on goes on so much later, in its order. */
  slowDown(delays: Partial<Delays>): void {
    this.#delays = { ...noDelays, ...delays }
  }

  #open(client: Socket): void {
    client.on('error', () => undefined)
    if (!this.#target) return void client.destroy()
    const server = connect({ ...this.#target, allowHalfOpen: true } as NetConnectOpts)
    const line: Line = { client, server, isDoomed: false }
    this.#lines.add(line)
    for (const socket of [client, server]) {
      socket.setNoDelay?.(true)
      socket.on('error', () => this.#cut(line))
    }
    this.#carry(line, client, { to: server, delayMs: () => this.#delays.toServerMs })
    this.#carry(line, server, { to: client, delayMs: () => this.#delays.toClientMs })
  }

  #carry(line: Line, from: Socket, { to, delayMs }: Way): void {
    const later = inOrder(delayMs)
    from.on('data', (bytes) => {
      if (this.#isCut(line, bytes, from)) return this.#cut(line)
      later(() => to.writable && to.write(bytes))
    })
    from.on('end', () => later(() => to.end()))
    from.on('close', () => {
      this.#answerIsLost(line)
      later(() => to.destroy())
      if (line.client.destroyed && line.server.destroyed) this.#lines.delete(line)
    })
  }

  #isCut(line: Line, bytes: Buffer, from: Socket): boolean {
    if (from === line.server) return line.isDoomed
    const found = this.#cuts.findIndex(({ mark }) => bytes.includes(mark))
    if (found < 0) return false
    const [cut] = this.#cuts.splice(found, 1)
    if (cut!.when === 'before the request') {
      this.#done += 1
      return true
    }
    line.isDoomed = true
    return false
  }

  /** By this proxy, or because the server has died before it answered. */
  #answerIsLost(line: Line): void {
    if (line.isDoomed) this.#done += 1
    line.isDoomed = false
  }

  #cut(line: Line): void {
    this.#answerIsLost(line)
    line.client.destroy()
    line.server.destroy()
    this.#lines.delete(line)
  }
}

/** Nothing overtakes what was sent before it, not even when the delay gets shorter or a timer is late. */
function inOrder(delayMs: () => number): (act: () => void) => void {
  const waiting: { readonly dueAt: number; readonly act: () => void }[] = []
  const carryOn = () => {
    while (waiting[0] && waiting[0].dueAt <= performance.now()) waiting.shift()!.act()
    if (waiting[0]) setTimeout(carryOn, Math.ceil(waiting[0].dueAt - performance.now())).unref()
  }
  return (act) => {
    waiting.push({ dueAt: performance.now() + delayMs(), act })
    if (waiting.length === 1) carryOn()
  }
}

interface Way {
  readonly to: Socket
  readonly delayMs: () => number
}
