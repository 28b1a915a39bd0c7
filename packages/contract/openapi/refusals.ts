import type { Json } from './schemas.ts'
import { refusalsOf } from '../refusals/of-operation.ts'
import { refusals, type RefusalName } from '../refusals.ts'
import type { AnyRoute } from '../routes.ts'

/** Refusals by status. Each is a named component; sets of them are not, because sets change. */
export class RefusedResponses {
  readonly #named = new Set<RefusalName>()

  /** Every refusal of a row, grouped by status. */
  of(route: AnyRoute): Json {
    const byStatus = new Map<number, RefusalName[]>()
    for (const name of refusalsOf(route)) {
      this.#named.add(name)
      const status = refusals[name][0]
      byStatus.set(status, [...(byStatus.get(status) ?? []), name])
    }
    return Object.fromEntries([...byStatus].map(([status, names]) => [status, responseOf(status, names)]))
  }

  /** One problem, with each of these refusals as an example. */
  examples(): Json {
    return Object.fromEntries([...this.#named].sort().map((name) => [name, exampleOf(refusals[name])]))
  }
}

function responseOf(status: number, names: readonly RefusalName[]): Json {
  const retries = status === 409 || status === 429 || status === 503 ? ['Retry-After'] : []
  const challenge = status === 401 ? ['WWW-Authenticate'] : []
  const headers = ['Ikw-Request-Id', ...challenge, ...retries]
  return {
    description: names.map(lineOf).join('  \n'),
    headers: Object.fromEntries(
      headers.map((header) => [header, { $ref: `#/components/headers/${header}` }]),
    ),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }])),
      },
    },
  }
}

function lineOf(name: RefusalName): string {
  const [, code, , message] = refusals[name]
  return `[${code}](/docs/errors#${code}) ${message}`
}

function exampleOf([status, code, retryable, message]: (typeof refusals)[RefusalName]): Json {
  return {
    summary: `${code} ${message}`,
    value: {
      type: `https://payments.example.com/docs/errors#${code}`,
      title: titles[status],
      status,
      detail: message,
      instance: '/api/v1/payouts',
      code,
      message,
      retryable,
      param: null,
      errors: [],
      request_id: 'req_5f6a7b8c9d0e01932c5e8f2a7b3c9d4e',
    },
  }
}

/** RFC 9110. */
const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  423: 'Locked',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}
