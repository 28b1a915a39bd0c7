import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  /** Of the resource: which process it comes from. */
  readonly service: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
  }[]
}

type SentSpan = Pick<ReceivedSpan, 'traceId' | 'spanId' | 'name'> & {
  readonly parentSpanId?: string
  readonly attributes?: readonly Attribute[]
  readonly links?: ReceivedSpan['links']
}

/** A collector as the OTLP specification describes it: traces as JSON, metrics as they arrive. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = []
  /** Protobuf stores texts unencoded, so names can be searched for. */
  metrics = ''
  /** Everything that ever arrived. */
  everything = ''
  readonly #server = createServer((request, response) => {
    void buffer(request).then((body) => {
      this.#receive(request.url ?? '', body)
      response.writeHead(200, { 'content-type': request.headers['content-type'] ?? '' }).end()
    })
  })

  async listen(t: Test): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    t.teardown(() => void this.#server.close().closeAllConnections())
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #receive(path: string, body: Buffer): void {
    this.everything += body.toString('latin1')
    if (path === '/v1/metrics') this.metrics += body.toString('latin1')
    if (path !== '/v1/traces') return
    const { resourceSpans } = JSON.parse(body.toString()) as Traces
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(attributesOf(resource.attributes)['service.name'])
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) this.spans.push(received(span, service))
    }
  }
}

function received(span: SentSpan, service: string): ReceivedSpan {
  const { traceId, spanId, name, parentSpanId = '', attributes = [], links = [] } = span
  return { traceId, spanId, name, parentSpanId, service, attributes: attributesOf(attributes), links }
}

function attributesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
