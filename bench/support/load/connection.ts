import { connect, type Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly body: string
}

const headEnd = Buffer.from('\r\n\r\n')
const lengthHeader = /\r\ncontent-length: *(\d+)/i

/**
 * One keep-alive HTTP/1.1 connection with one request in flight: no more than a load generator needs, so that
 * the machine is left to what is measured. Answers must have a Content-Length.
 */
export class Connection {
  readonly #socket: Socket
  #received: Buffer | undefined
  #answered: ((answer: Answer) => void) | undefined
  #failed: ((error: Error) => void) | undefined

  constructor(port: number, host = '127.0.0.1') {
    this.#socket = connect({ port, host, noDelay: true })
    this.#socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the server has closed the connection')))
  }

  send(request: string): Promise<Answer> {
    if (this.#socket.destroyed)
      return Promise.reject(new Error('the server had closed the connection before it was asked'))
    return new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#failed = undefined
    this.#socket.destroy()
  }

  #receive(bytes: Buffer): void {
    const received = this.#received ? Buffer.concat([this.#received, bytes]) : bytes
    const end = received.indexOf(headEnd)
    const head = end < 0 ? '' : received.toString('latin1', 0, end)
    const bodyStart = end + headEnd.length
    const bodyEnd = end < 0 ? Infinity : bodyStart + Number(lengthHeader.exec(head)?.[1] ?? 0)
    if (received.length < bodyEnd) {
      this.#received = received
      return
    }
    this.#received = undefined
    const answered = this.#answered
    this.#answered = undefined
    answered?.({ status: Number(head.slice(9, 12)), body: received.toString('utf8', bodyStart, bodyEnd) })
  }

  #fail(error: Error): void {
    this.#failed?.(error)
    this.#failed = undefined
  }
}
