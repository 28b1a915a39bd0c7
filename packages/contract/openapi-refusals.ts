import type { Json } from './openapi-schemas.ts'
import { refusalsOf } from './operation-refusals.ts'
import { refusals, type RefusalName } from './refusals.ts'
import type { AnyRoute } from './routes.ts'

/** Every refusal of a row, grouped by status, with one example each. */
export function refusedResponses(route: AnyRoute): Json {
  const byStatus = new Map<number, RefusalName[]>()
  for (const name of refusalsOf(route)) {
    const status = refusals[name][0]
    byStatus.set(status, [...(byStatus.get(status) ?? []), name])
  }
  return Object.fromEntries([...byStatus].map(([status, names]) => [status, refusedResponse(status, names, route)]))
}

function refusedResponse(status: number, names: readonly RefusalName[], route: AnyRoute): Json {
  const retries = status === 409 || status === 429 || status === 503 ? ['Retry-After'] : []
  const challenge = status === 401 ? ['WWW-Authenticate'] : []
  const deprived = route.scope === 'public' || status === 401 ? [] : ['RateLimit-Policy', 'RateLimit']
  const headers = ['Ikw-Request-Id', ...challenge, ...retries, ...deprived]
  return {
    description: names.map(lineOf).join('  \n'),
    headers: Object.fromEntries(headers.map((header) => [header, { $ref: `#/components/headers/${header}` }])),
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

/** One problem as each refusal answers it. */
export function refusalExamples(): Json {
  return Object.fromEntries(Object.entries(refusals).map(([name, row]) => [name, exampleOfRefusal(row)]))
}

function exampleOfRefusal([status, code, retryable, message]: (typeof refusals)[RefusalName]): Json {
  return {
    summary: `${code} ${message}`,
    value: {
      type: `/docs/errors#${code}`,
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
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}
