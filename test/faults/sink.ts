import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Ending } from '../support/processes/ending.ts'

/** One webhook as it arrived. */
export interface Received {
  /** The last part of the URL that it came to. */
  readonly endpoint: string
  readonly event: string
  readonly sequence: number
  /** Id of the object that it is about. */
  readonly resource: string
}

export interface Sink {
  readonly url: string
  /** In the order in which they came. */
  readonly received: readonly Received[]
}

interface Payload {
  readonly id: string
  readonly sequence: number
  readonly data: { readonly id?: string }
}

/** Merchants' webhook endpoints, which take everything at once and remember it. */
export async function openSink(ending: Ending): Promise<Sink> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then(
      (body) => {
        const { id, sequence, data } = JSON.parse(body) as Payload
        const endpoint = request.url!.slice(request.url!.lastIndexOf('/') + 1)
        received.push({ endpoint, event: id, sequence, resource: data.id ?? '' })
        response.writeHead(204).end()
      },
      () => response.destroy(),
    )
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ending.teardown(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, received }
}
