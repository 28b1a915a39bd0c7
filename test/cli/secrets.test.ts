import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { killPostgres } from '../support/processes/postmaster.ts'
import { serviceProcess } from '../support/processes/service-process.ts'
import type { Answer, MerchantClient } from '../support/service.ts'

/** Where the service itself keeps them, for their owner alone. */
const keepers = ['credentials.json', 'master.key']
const cardToken = 'tok_4970101234567890secret'
const wrongKey = 'ik_test_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
/** Of a payer, of who is paid and of a customer who is looked for. */
const phones = ['+221771112233', '+221774445566', '+221777778899']

/** What a run shows to the outside and leaves behind. */
interface Traces {
  readonly secrets: readonly string[]
  readonly refusals: readonly string[]
  readonly logs: string
  readonly files: ReadonlyMap<string, Buffer>
  readonly rows: ReadonlyMap<string, string>
}

t.test('after a run of everything', async (t) => {
  const { secrets, refusals, logs, files, rows } = await run(t)
  t.ok(logs.includes('"msg":"answered"') && logs.includes('request failed'), 'it has logged')
  t.ok(rows.size > 15 && files.size > 100 && refusals.length > 8, 'and left things behind')

  await t.test('no key, no webhook secret and no card token is anywhere', async (t) => {
    await lawOver(t, secrets, (secret) => {
      t.strictSame(
        holders(rows, (text) => text.includes(secret)),
        [],
        'in a table',
      )
      t.strictSame(
        holders(files, (bytes) => bytes.includes(secret)),
        [],
        'in a file',
      )
      t.notOk(logs.includes(secret), 'in the logs')
      t.strictSame(
        refusals.filter((text) => text.includes(secret)),
        [],
        'in an error',
      )
    })
  })

  await t.test('no telephone number is in a log', async (t) => {
    const serverLog = files.get('postgres.log')?.toString() ?? ''
    for (const phone of phones) {
      for (const spelling of [phone, phone.slice(1), encodeURIComponent(phone)]) {
        t.notOk(logs.includes(spelling), lineWith(logs, spelling))
        t.notOk(serverLog.includes(spelling), lineWith(serverLog, spelling))
      }
    }
  })
})

function holders<Text>(texts: ReadonlyMap<string, Text>, holds: (text: Text) => boolean): readonly string[] {
  return [...texts].filter(([, text]) => holds(text)).map(([name]) => name)
}

function lineWith(text: string, part: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.includes(part))
      ?.slice(0, 1_000) ?? `without ${part}`
  )
}

async function run(t: Test): Promise<Traces> {
  const dataDirectory = temporaryDirectory(t)
  t.teardown(() => killPostgres(dataDirectory))
  const { service, client } = await serviceProcess(t, dataDirectory, { LOG_LEVEL: 'trace' })
  const postgres = await connectPostgres({ dataDirectory })
  t.teardown(() => postgres.close())
  const { pool } = postgres
  const webhookSecrets = await useWebhooks(t, client)
  await pay(client)
  const refusals = [...(await beRefused(client)), ...(await fail(client, pool))]
  await eventually(
    () => pool.query<{ count: number }>('select count(*) as count from deliveries where attempts > 0'),
    ({ rows }) => {
      return rows[0]!.count > 2
    },
  )
  const { errors } = await service.end('SIGTERM')
  // What is in memory of the server goes to its files.
  await pool.query('checkpoint')
  const secrets = [client.sandboxKey, client.liveKey, wrongKey, cardToken, ...webhookSecrets]
  return { secrets, refusals, logs: errors, files: filesIn(dataDirectory), rows: await tablesOf(pool) }
}

/** Answers the secrets that were shown. */
async function useWebhooks(t: Test, client: MerchantClient): Promise<readonly string[]> {
  let answers = 0
  const receiver = createServer(
    (_, response) => void response.writeHead(++answers % 2 ? 200 : 500).end('thanks'),
  ).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
  const headers = { 'idempotency-key': 'an-endpoint' }
  const register = () => client.post('/api/v1/webhook-endpoints', { url, enabled_events: ['*'] }, { headers })
  const { body } = await register()
  t.equal((await register()).body['secret'], body['secret'], 'a repeat shows it again')
  const path = `/api/v1/webhook-endpoints/${String(body['id'])}`
  const rotated = await client.post(`${path}/rotate_secret`)
  const secrets = [body['secret'], rotated.body['secret']].map(String)
  t.ok(secrets.every((secret) => secret.startsWith('whsec_')))
  return secrets.flatMap((secret) => [secret, secret.slice('whsec_'.length)])
}

async function pay(client: MerchantClient): Promise<void> {
  const [payer, payee, searched] = phones as [string, string, string]
  const order = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }
  const wallet = {
    type: 'mobile_money',
    mobile_money: { country: 'SN', operator: 'orange_money', msisdn: payer },
  }
  for (const payment_method of [{ type: 'card', card: { token: cardToken } }, wallet]) {
    const { body } = await client.post('/api/v1/payment-intents', { ...order, customer_phone: searched })
    await client.post(
      `/api/v1/payment-intents/${String(body['id'])}/confirm`,
      { payment_method },
      { headers: { 'idempotency-key': String(body['id']) } },
    )
    await client.post(`/api/v1/merchant/payments/${String(body['id'])}/refund`, { amount: 100 })
  }
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: payee }
  await client.post('/api/v1/payouts', { amount: 500, currency: 'XOF', destination })
  await client.get(`/api/v1/merchant/customers?search=${encodeURIComponent(searched)}`)
  await client.get(`/api/v1/merchant/payments?search=${encodeURIComponent(payer)}`)
}

/** Requests that hold secrets in all the wrong places. */
async function beRefused(client: MerchantClient): Promise<readonly string[]> {
  const { body } = await client.post('/api/v1/payment-intents', {
    amount: 5_000,
    currency: 'XOF',
    transaction_country: 'SN',
  })
  const confirm = `/api/v1/payment-intents/${String(body['id'])}/confirm`
  const answers = await Promise.all([
    client.get('/api/v1/balance', { key: wrongKey }),
    client.get('/api/v1/balance', { headers: { authorization: client.liveKey } }),
    client.get('/api/v1/balance', { key: client.liveKey, headers: { 'ikw-environment': 'sandbox' } }),
    client.get(`/api/v1/balance?key=${client.sandboxKey}`),
    client.post('/api/v1/payouts', `{"token": "${cardToken}", }`),
    client.post(confirm, { payment_method: { type: 'card', card: { token: [cardToken] } } }),
    client.post(confirm, { payment_method: { type: 'card', card: { token: cardToken, number: cardToken } } }),
    client.post(confirm, { payment_method: { type: cardToken, card: { token: cardToken } } }),
    client.post(confirm, { payment_method: { type: 'mobile_money', card: { token: cardToken } } }),
    client.post(confirm, `{"payment_method": {"card": {"token": "${cardToken}", "token": "${cardToken}"}}}`),
  ])
  return answers.filter(({ status }) => status >= 400).map(textOf)
}

/** Requests that fail inside of us, which is what is logged at length. */
async function fail(client: MerchantClient, pool: pg.Pool): Promise<readonly string[]> {
  const tables = `select 'read.' || tablename as name from pg_tables
    where schemaname = 'read' and tablename ~ '^customers_v[0-9]+_[0-9]+$'`
  const { rows } = await pool.query<{ name: string }>(tables)
  const { name } = rows[0]!
  await pool.query(`alter table ${name} rename to customers_gone`)
  const answer = await client.get(`/api/v1/merchant/customers?search=${encodeURIComponent(phones[2]!)}`)
  await pool.query(`alter table read.customers_gone rename to ${name.replace('read.', '')}`)
  if (answer.status !== 500) throw new Error(`it has not failed: ${textOf(answer)}`)
  return [textOf(answer)]
}

function textOf({ headers, body }: Answer): string {
  return JSON.stringify([Object.fromEntries(headers), body])
}

function filesIn(directory: string): ReadonlyMap<string, Buffer> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !keepers.includes(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
  return new Map(
    files.map((file) => [
      file.startsWith(join(directory, 'postgres/')) ? file : basename(file),
      readFileSync(file),
    ]),
  )
}

/** Every row of every table as text. */
async function tablesOf(pool: pg.Pool): Promise<ReadonlyMap<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const texts = new Map<string, string>()
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(
      `select coalesce(string_agg(to_jsonb(r)::text, E'\\n'), '') as text from ${name} r`,
    )
    texts.set(name, rows[0]!.text)
  }
  return texts
}
