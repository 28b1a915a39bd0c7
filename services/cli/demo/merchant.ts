import { CommandFailedError } from '../terminal/failure.ts'

type Body = Readonly<Record<string, unknown>>

export interface Answer {
  readonly status: number
  readonly body: Body
}

const callTimeoutMs = 30_000

/** The merchant of `ikw demo`: calls the service with a sandbox key. */
export class Merchant {
  readonly baseUrl: string
  readonly #key: string

  constructor(baseUrl: string, key: string) {
    this.baseUrl = baseUrl
    this.#key = key
  }

  /** Throws CommandFailedError when no service is running, or when it does not know the key. */
  async greet(): Promise<void> {
    await this.#fetch('GET', '/healthz')
    const { status } = await this.call('GET', '/api/v1/balance')
    if (status === 401) {
      throw new CommandFailedError(
        `${this.baseUrl} does not know the key in credentials.json: set DATA_DIR to its data directory.`,
      )
    }
    if (status !== 200) {
      throw new CommandFailedError(
        `${this.baseUrl} is no payments service, or it is not ready (status ${status}).`,
      )
    }
  }

  async call(method: string, path: string, body?: object): Promise<Answer> {
    const response = await this.#fetch(method, path, body)
    const text = await response.text()
    const isJson = (response.headers.get('content-type') ?? '').includes('json')
    return { status: response.status, body: isJson ? (JSON.parse(text) as Body) : {} }
  }

  async post(path: string, body: object): Promise<Body> {
    const answer = await this.call('POST', path, body)
    if (answer.status < 300) return answer.body
    throw new CommandFailedError(
      `POST ${path} was refused: ${String(answer.body['message'] ?? `status ${answer.status}`)}.`,
    )
  }

  /** Undefined while it is not found. */
  async find(path: string): Promise<Body | undefined> {
    const { status, body } = await this.call('GET', path)
    return status === 200 ? body : undefined
  }

  async available(currency: string): Promise<number> {
    const { body } = await this.call('GET', `/api/v1/balance?currency=${currency}`)
    const balances = body['available'] as
      readonly { readonly amount: number; readonly currency: string }[] | undefined
    return balances?.find((balance) => balance.currency === currency)?.amount ?? 0
  }

  async #fetch(method: string, path: string, body?: object): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.#key}`,
      'ikw-environment': 'sandbox',
      'content-type': 'application/json',
    }
    const signal = AbortSignal.timeout(callTimeoutMs)
    try {
      return await fetch(this.baseUrl + path, {
        method,
        headers,
        signal,
        ...(body && { body: JSON.stringify(body) }),
      })
    } catch {
      throw new CommandFailedError(
        `No service answers at ${this.baseUrl}: start it with \`make run\`, or set PORT or BASE_URL.`,
      )
    }
  }
}
