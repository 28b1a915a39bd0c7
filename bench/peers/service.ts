import { createHash, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { Ajv } from 'ajv'
import express, { type NextFunction, type Request, type Response } from 'express'
import pg from 'pg'
import {
  confirmIntent,
  createIntent,
  listPayouts,
  requestPayout,
  showPayout,
  succeedIntent,
} from './statements.ts'

/**
 * The same service as a good engineer would write it in a day with express and pg: rows updated in place, one
 * transaction per request, prepared statements, keys cached in memory, validated bodies.
 */

const pool = new pg.Pool({ connectionString: process.argv[2]!, max: 16 })
pool.on('error', () => undefined)
const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.use(express.json({ limit: '256kb' }))
app.use(authenticate)

const keys = new Map<string, string>()

async function authenticate(request: Request, response: Response, next: NextFunction): Promise<void> {
  const [, secret] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? []
  const hash = createHash('sha256')
    .update(secret ?? '')
    .digest('hex')
  let merchant = keys.get(hash)
  if (merchant === undefined) {
    const { rows } = await pool.query<{ merchant: string }>('select merchant from api_keys where hash = $1', [
      hash,
    ])
    merchant = rows[0]?.merchant
    if (merchant === undefined) return void response.status(401).json({ error: 'unauthorized' })
    keys.set(hash, merchant)
  }
  response.locals['merchant'] = merchant
  next()
}

const ajv = new Ajv()
const money = {
  amount: { type: 'integer', minimum: 1 },
  currency: { type: 'string', minLength: 3, maxLength: 3 },
}
const metadata = { type: 'object', additionalProperties: { type: 'string', maxLength: 500 } }
const method = {
  type: 'object',
  required: ['type', 'country', 'operator', 'msisdn'],
  properties: {
    type: { const: 'mobile_money' },
    country: { type: 'string', minLength: 2, maxLength: 2 },
    operator: { type: 'string' },
    msisdn: { type: 'string', pattern: '^\\+[0-9]{8,15}$' },
  },
}
const isPayout = ajv.compile({
  type: 'object',
  required: ['amount', 'currency', 'destination'],
  properties: { ...money, destination: method, metadata },
})
const isIntent = ajv.compile({
  type: 'object',
  required: ['amount', 'currency', 'transaction_country'],
  properties: { ...money, transaction_country: { type: 'string' }, metadata },
})
const isConfirmation = ajv.compile({
  type: 'object',
  required: ['payment_method'],
  properties: { payment_method: { type: 'object', required: ['type', 'mobile_money'] } },
})

type Work = (connection: pg.PoolClient, asked: Asked) => Promise<object | undefined>

interface Asked {
  readonly merchant: string
  readonly id: string
  readonly key: string | undefined
  readonly body: Record<string, never>
}

function inTransaction(status: number, isValid: (body: unknown) => boolean, work: Work) {
  return async (request: Request, response: Response) => {
    if (!isValid(request.body)) return void response.status(400).json({ error: 'invalid' })
    const connection = await pool.connect()
    try {
      await connection.query('begin')
      const merchant = response.locals['merchant'] as string
      const id = String(request.params['id'] ?? randomUUID())
      const asked = { merchant, id, key: request.get('idempotency-key'), body: request.body as Asked['body'] }
      const answer = await work(connection, asked)
      await connection.query(answer ? 'commit' : 'rollback')
      if (answer) response.status(status).json(answer)
      else response.status(409).json({ error: 'conflict' })
    } catch (error) {
      await connection.query('rollback')
      response.status(500).json({ error: String(error) })
    } finally {
      connection.release()
    }
  }
}

app.post('/api/v1/payouts', inTransaction(201, isPayout, requestPayout))
app.post('/api/v1/payment-intents', inTransaction(201, isIntent, createIntent))
app.post('/api/v1/payment-intents/:id/confirm', inTransaction(200, isConfirmation, confirmIntent))
app.post(
  '/api/test/mobile-money/callback',
  inTransaction(200, () => true, succeedIntent),
)

app.get('/api/v1/payouts/:id', async (request, response) => {
  const payout = await showPayout(pool, response.locals['merchant'] as string, request.params.id)
  if (payout) response.json(payout)
  else response.status(404).json({ error: 'not found' })
})
app.get('/api/v1/merchant/payouts', async (request, response) => {
  const { status, limit } = request.query
  response.json(
    await listPayouts(pool, [response.locals['merchant'] as string, String(status), Number(limit)]),
  )
})

const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://localhost:${(server.address() as AddressInfo).port}\n`)
})
