import { once } from 'node:events'
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

const lookEveryMs = 500

class Backend {
  readonly port: number
  /** It keeps its connections, as balancers do: a client would notice the end of one in use. */
  readonly agent = new Agent({ keepAlive: true })
  isIn = false

  constructor(port: number) {
    this.port = port
  }

  async look(): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => undefined)
    await answer?.text()
    this.isIn = answer?.status === 200
  }
}

/**
 * A simple balancer in front of several processes: it takes out those that are not ready or refuse a
 * connection, retries elsewhere only after a refused connection, and answers 502 for everything else.
 */
export class Balancer {
  readonly #backends: readonly Backend[]
  readonly #server: Server
  readonly #timer: NodeJS.Timeout
  #turn = 0

  constructor(ports: readonly number[]) {
    this.#backends = ports.map((port) => new Backend(port))
    // Clients end connections that they no longer use, and never meet one that just ends.
    const keep = { keepAliveTimeout: 0 }
    this.#server = createServer(keep, (request, response) => void this.#serve(request, response))
    this.#timer = setInterval(() => void this.#look(), lookEveryMs)
  }

  async listen(): Promise<string> {
    await this.#look()
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Ports of the processes that receive requests. */
  get inside(): readonly number[] {
    return this.#backends.filter(({ isIn }) => isIn).map(({ port }) => port)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#server.close().closeAllConnections()
    for (const { agent } of this.#backends) agent.destroy()
  }

  async #look(): Promise<void> {
    await Promise.all(this.#backends.map((backend) => backend.look()))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    for (;;) {
      const backend = this.#next()
      if (!backend) return void response.writeHead(502).end('nobody is ready')
      try {
        const answer = await forward(backend, request, body)
        const text = await buffer(answer)
        return void response.writeHead(answer.statusCode!, passedOn(answer)).end(text)
      } catch (error) {
        if ((error as { code?: string }).code !== 'ECONNREFUSED')
          return void response.writeHead(502).end(String(error))
        backend.isIn = false
      }
    }
  }

  #next(): Backend | undefined {
    const inside = this.#backends.filter(({ isIn }) => isIn)
    return inside[this.#turn++ % inside.length]
  }
}

async function forward(
  { port, agent }: Backend,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  const { method, url: path } = incoming
  const request = httpRequest({ port, host: '127.0.0.1', agent, method, path, headers: passedOn(incoming) })
  request.end(body)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return answer
}

/** Both say how long one connection is kept: the other side's is another one. */
function passedOn({ headers }: IncomingMessage): IncomingHttpHeaders {
  const { connection: _, 'keep-alive': __, ...passed } = headers
  return passed
}
