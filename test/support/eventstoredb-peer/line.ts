import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** The connection between clients and server, which a test can cut. */
export class Line {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number
  #port = 0

  constructor(target: number) {
    this.#target = target
    this.#server = createServer({ noDelay: true }, (near) => {
      const far = connect({ port: this.#target, host: '127.0.0.1', noDelay: true })
      this.#keep(near, far)
      this.#keep(far, near)
      near.pipe(far).pipe(near)
    })
  }

  get port(): number {
    return this.#port
  }

  /** On any free port the first time, then always on that one. */
  async open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    const { port } = this.#server.address() as AddressInfo // An address as text belongs to pipes only.
    this.#port = port
  }

  /** From now on this leads to another server; returns what it led to. */
  leadTo(target: number): number {
    const before = this.#target
    this.#target = target
    this.cut()
    return before
  }

  /** Breaks all connections; new ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Breaks all connections and accepts no new ones. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.cut()
    await closed
  }

  #keep(socket: Socket, other: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      other.destroy()
    })
  }
}
