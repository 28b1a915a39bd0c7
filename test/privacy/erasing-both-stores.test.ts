import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type pg from 'pg'
import t, { type Test } from 'tap'
import type { Erased } from '../../services/privacy/erase.ts'
import { ikw, jsonOf, type Settings } from '../support/cli.ts'
import { recordsOf } from '../support/event-store/eventstoredb-anew.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { newPhone } from '../support/identities/phone-samples.ts'
import type { MerchantClient } from '../support/service.ts'
import { serviceProcess, type ServiceProcess } from '../support/processes/service-process.ts'
import { newUser } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
const user = { name: 'Mariama Forgotten-Diallo', secondary: 'mariama.second@example.com' }
const payer = {
  customer_email: 'awa.forgotten@example.com',
  customer_phone: '+221770008642',
  description: 'red shawl for Awa',
}

interface Running {
  readonly client: MerchantClient
  readonly service: ServiceProcess
  readonly settings: Settings
  readonly pool: pg.Pool
  /** Of an EventStoreDB, all that it has. */
  readonly stored: () => Promise<string>
}

async function open(t: Test, peer?: EventStoreDbPeer): Promise<Running> {
  const { url, pool } = await testDatabase(t)
  const settings = {
    ...{ DATA_DIR: temporaryDirectory(t), POSTGRES_URL: url, LOG_LEVEL: 'trace' },
    ...(peer && { EVENTSTORE_URL: peer.url }),
  }
  const { client, service } = await serviceProcess(t, settings.DATA_DIR, settings)
  const stored = async () => (peer ? JSON.stringify(await recordsOf(peer.url)) : '')
  return { client, service, settings, pool, stored }
}

/** Somebody who signs in, with a number that was proved by a message to it. */
async function somebody({ client, settings }: Running) {
  const { id, email, token, merchant } = await newUser(client)
  const phone = newPhone()
  const asUser = { key: token }
  await client.call(
    'PATCH',
    `${auth}/personal-info`,
    { name: user.name, secondaryEmail: user.secondary },
    asUser,
  )
  await client.post(`${auth}/phone-change/request`, { newPhone: phone }, asUser)
  const sms = join(settings['DATA_DIR']!, 'sms')
  const text = await eventually(
    async () => textTo(sms, phone),
    (found) => found !== undefined,
  )
  const proof = await client.post(`${auth}/phone-change/verify`, { code: text!.slice(0, 6) }, asUser)
  if (proof.status !== 200) throw new Error(JSON.stringify(proof.body))
  return { id, email, merchant, values: [user.name, user.secondary, phone, phone.slice(1), email] }
}

function textTo(directory: string, phone: string): string | undefined {
  if (!existsSync(directory)) return undefined
  return readdirSync(directory)
    .filter((name) => /^[^.].*\.json$/.test(name))
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as { to: string; text: string })
    .findLast(({ to }) => to === phone)?.text
}

/** Every row of every table, as text, behind the name of its table. */
async function tables(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const texts = rows.map(async ({ name }) => {
    const found = await pool.query<{ row: string }>(`select t::text as row from ${name} t`)
    return found.rows.map(({ row }) => `${name}: ${row}`)
  })
  return (await Promise.all(texts)).flat()
}

/** All files of a directory, unpacked, behind their names. */
function files(directory: string): readonly string[] {
  const all = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return all.map(({ parentPath, name }) => {
    const bytes = readFileSync(join(parentPath, name))
    return `${join(parentPath, name)}: ${(name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1')}`
  })
}

/** What a service shows of its log to everybody. */
async function served({ client, pool }: Running): Promise<readonly string[]> {
  const { rows } = await pool.query<{ path: string }>(
    `select format('tile/%s/%s', level, lpad(index::text, 3, '0')) ||
       case when length(hashes) < 8192 then format('.p/%s', length(hashes) / 32) else '' end as path from log_tiles
     union all select format('tile/entries/%s', lpad(index::text, 3, '0')) ||
       case when length(commitments) < 8192 then format('.p/%s', length(commitments) / 32) else '' end from log_bundles`,
  )
  const paths = ['checkpoint', 'key', ...rows.map(({ path }) => path)]
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`${client.url}/log/${path}`)
      return `${path} ${response.status}: ${Buffer.from(await response.arrayBuffer()).toString('latin1')}`
    }),
  )
}

/** Names of the texts in which a value stands, also where bytes are shown in hexadecimal or base64. */
function placesOf(texts: readonly string[], values: readonly string[]): readonly string[] {
  const forms = (['utf8', 'latin1', 'hex', 'base64url'] as const).flatMap((form) =>
    values.map((value) => Buffer.from(value).toString(form)),
  )
  return texts.filter((text) => forms.some((form) => text.includes(form))).map((text) => text.split(': ')[0]!)
}

async function searched(running: Running): Promise<readonly string[]> {
  const { pool, settings, stored, service } = running
  return [
    ...(await tables(pool)),
    ...files(settings['DATA_DIR']!),
    ...(await served(running)),
    `event store: ${await stored()}`,
    `log: ${service.errors}`,
  ]
}

const why = ['--by', 'awa', '--reason', 'Asked for it by mail']

async function erasedEverywhere(t: Test, peer?: EventStoreDbPeer): Promise<void> {
  const running = await open(t, peer)
  const { client, settings } = running
  const run = (...words: readonly string[]) => ikw(settings, ...words)
  const person = await somebody(running)
  const request = { amount: 500, currency: 'XOF', transaction_country: 'SN', ...payer }
  const { body: intent } = await client.post('/api/v1/payment-intents', request)
  const values = [...person.values, ...Object.values(payer)]
  const before = await eventually(
    () => searched(running),
    (texts) => placesOf(texts, [person.email]).some((place) => place.includes('/mail/')),
  )
  await lawOver(t, ['read.', '/mail/', '/sms/'], (place) =>
    t.ok(
      placesOf(before, values).some((found) => found.includes(place)),
      `the search finds it in ${place}`,
    ),
  )

  t.match(await run('merchants', 'suspend', person.merchant, ...why), { code: 0 })
  await lawOver(t, [person.email, String(intent['customer'])], async (who) => {
    const erased = await run('privacy', 'erase', who, ...why, '--json')
    t.strictSame(jsonOf<Erased>(erased).left, [], erased.stderr)
    t.strictSame(
      placesOf(
        [erased.stdout, erased.stderr],
        values.filter((value) => value !== who),
      ),
      [],
    )
  })

  const places = placesOf(await searched(running), values)
  t.ok(
    places.every((place) => /^read\.merchants_v/.test(place)),
    `only the merchant keeps its own address: ${[...new Set(places)].join()}`,
  )
  const others = values.filter((value) => value !== person.email)
  t.strictSame(placesOf(await searched(running), others), [])
  const backup = join(temporaryDirectory(t), 'backup')
  t.equal((await run('backup', backup)).code, 0)
  t.strictSame(placesOf(files(backup), values), [], 'a backup made afterwards')
  t.match(await run('audit', 'verify', backup), { code: 0 }, 'the log proves itself')
  t.match(await run('ledger', 'replay'), { code: 0 }, 'the read models are those of the log')
  t.match(await run('privacy', 'export', person.email), { code: 2 })
}

t.test('who is erased is found nowhere, on PostgreSQL', (t) => erasedEverywhere(t))

t.test('who is erased is found nowhere, on an EventStoreDB', async (t) => {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  await erasedEverywhere(t, peer)
})
