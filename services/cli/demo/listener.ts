import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

/** A webhook with a valid signature. */
export interface ReceivedWebhook {
  readonly event: string
  readonly type: string
  /** Id of the object that it is about. */
  readonly resource: string
}

export interface Listener {
  readonly url: string
  readonly heard: readonly ReceivedWebhook[]
  /** The secret that verifies signatures from now on. */
  expect(secret: string): void
  close(): void
}

interface Payload {
  readonly type: string
  readonly data: { readonly id: string }
}

/** A merchant's webhook endpoint on this machine. An invalid signature is answered 400 and ignored. */
export async function listen(): Promise<Listener> {
  const heard: ReceivedWebhook[] = []
  let webhook: Webhook | undefined
  const server = createServer((request, response) => {
    void hear(request, webhook).then(
      (one) => {
        heard.push(one)
        response.writeHead(204).end()
      },
      () => response.writeHead(400).end(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    heard,
    expect: (secret) => void (webhook = new Webhook(secret)),
    close: () => void server.close().closeAllConnections(),
  }
}

async function hear(request: IncomingMessage, webhook: Webhook | undefined): Promise<ReceivedWebhook> {
  const body = await text(request)
  if (!webhook) throw new Error('nothing is expected yet')
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]))
  const { type, data } = webhook.verify(body, headers) as Payload
  return { event: headers['webhook-id']!, type, resource: data.id }
}
