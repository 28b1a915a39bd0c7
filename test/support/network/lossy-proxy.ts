import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { temporaryDirectory } from '../postgres.ts'

/** In front of a server on a Unix socket; can cut a connection just when the server has answered. */
export class LossyProxy {
  readonly #url: URL
  readonly #directory: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #losing = false

  constructor(t: Test, url: string) {
    this.#url = new URL(url)
    this.#directory = temporaryDirectory(t)
    this.#server = createServer((client) => this.#relay(client))
    t.teardown(() => {
      this.#server.close()
      for (const socket of this.#sockets) socket.destroy()
    })
  }

  /** The connection string that leads through the proxy. */
  async listen(): Promise<string> {
    this.#server.listen(join(this.#directory, '.s.PGSQL.5432'))
    await once(this.#server, 'listening')
    const url = new URL(this.#url)
    url.searchParams.set('host', this.#directory)
    url.searchParams.set('port', '5432')
    return url.href
  }

  loseNextAnswer(): void {
    this.#losing = true
  }

  #relay(client: Socket): void {
    const { searchParams } = this.#url
    const port = searchParams.get('port') ?? '5432'
    const server = connect(join(searchParams.get('host') ?? '', `.s.PGSQL.${port}`))
    const cut = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', cut).on('close', cut)
    }
    client.on('data', (bytes) => server.write(bytes))
    server.on('data', (bytes) => {
      if (!this.#losing) return void client.write(bytes)
      this.#losing = false
      cut()
    })
  }
}
