import { Connection } from '../../../bench/support/load/connection.ts'

/**
 * Merchants who create payment intents: a process that prints the result as one line. Parameters: port, API
 * key, seconds, connections, and requests started per second whatever the answers do; 0: each connection
 * waits for its answer.
 */
const [port = '', apiKey = '', seconds = '', connections = '', perSecond = ''] = process.argv.slice(2)

export interface Offered {
  /** Idempotency keys of requests that were answered 201. */
  readonly acknowledged: readonly string[]
  /** And of those that were answered 503. */
  readonly refused: readonly string[]
  /** Any other end. */
  readonly others: readonly string[]
  readonly perSecond: number
  /** From the moment a request was due to its answer. */
  readonly p50Ms: number
  readonly p99Ms: number
}

const tickMs = 2
const connectedAtOnce = 32
const body = '{"amount":1000,"currency":"XOF","transaction_country":"SN"}'
const run = Date.now()
const acknowledged: string[] = []
const refused: string[] = []
const others: string[] = []
const durations: number[] = []
let sent = 0

const free: Connection[] = []
await connectAll()
const started = performance.now()
const end = started + Number(seconds) * 1_000
const underWay = new Set<Promise<void>>()
await (Number(perSecond) === 0 ? follow() : pace(1_000 / Number(perSecond)))
await Promise.all(underWay)
for (const connection of free) connection.close()
durations.sort((one, other) => one - other)
const offered: Offered = {
  acknowledged,
  refused,
  others,
  perSecond: Math.round(sent / Number(seconds)),
  p50Ms: Math.round(durations[Math.floor(durations.length * 0.5)] ?? 0),
  p99Ms: Math.round(durations[Math.floor(durations.length * 0.99)] ?? 0),
}
process.stdout.write(`${JSON.stringify(offered)}\n`)

/** Some at a time: those the system has no place for would wait for seconds and be counted as slow. */
async function connectAll(): Promise<void> {
  while (free.length < Number(connections)) {
    const some = Array.from({ length: connectedAtOnce }, () => new Connection(Number(port)))
    await Promise.all(some.map((one) => one.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')))
    free.push(...some)
  }
}

async function follow(): Promise<void> {
  await Promise.all(
    [...free].map(async (connection) => {
      while (performance.now() < end) await ask(connection, performance.now())
    }),
  )
}

async function pace(everyMs: number): Promise<void> {
  let dueAt = performance.now()
  while (performance.now() < end) {
    for (; dueAt <= performance.now() && free.length > 0; dueAt += everyMs) {
      const connection = free.pop()!
      const one = ask(connection, dueAt).then(() => void free.push(connection))
      underWay.add(one)
      void one.then(() => underWay.delete(one))
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
}

async function ask(connection: Connection, dueAt: number): Promise<void> {
  const key = `offer-${run}-${++sent}`
  try {
    const { status } = await connection.send(requestWith(key))
    const ended = status === 201 ? acknowledged : status === 503 ? refused : others
    ended.push(status === 201 || status === 503 ? key : `${key} ${status}`)
    if (status === 201) durations.push(performance.now() - dueAt)
  } catch (error) {
    others.push(`${key} ${String(error)}`)
  }
}

function requestWith(key: string): string {
  const head = [
    'POST /api/v1/payment-intents HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${apiKey}`,
    'Ikw-Environment: sandbox',
    `Idempotency-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
