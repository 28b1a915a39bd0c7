import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import t, { type Test } from 'tap'
import type { Credentials } from '../../services/composition/credentials.ts'
import type { Broker } from '../../infra/kafka/broker.ts'
import { listen, type ReceivedWebhook } from '../../services/cli/demo/listener.ts'
import { eventually as soon } from '../support/eventually.ts'
import { startTestBroker } from '../support/event-store/kafka.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { clientOf, type MerchantClient } from '../support/service.ts'
import { ServiceApart, type ServiceName } from '../support/processes/service-apart.ts'

/** Many processes on a small machine take their time. */
const patienceMs = 60_000
const eventually: typeof soon = (ask, isReached) => soon(ask, isReached, patienceMs)

const led = ['processes', 'projector', 'relay'] as const
const services = ['api', ...led, 'webhooks'] as const

interface World {
  readonly pool: pg.Pool
  readonly broker: Broker
  readonly credentials: Credentials
  readonly start: (name: ServiceName, instance: string) => ServiceApart
  readonly all: ServiceApart[]
}

/** Two of each service, over one Postgres and a real broker. */
async function world(t: Test): Promise<World> {
  const broker = await startTestBroker(t)
  const { url, pool } = await testDatabase(t)
  const dataDirectory = temporaryDirectory(t)
  const all: ServiceApart[] = []
  const start = (name: ServiceName, instance: string) => {
    const postgres = new URL(url)
    // Postgres knows by this name who has written.
    postgres.searchParams.set('application_name', instance)
    const settings = { POSTGRES_URL: postgres.href, KAFKA_BROKERS: broker.address, DATA_DIR: dataDirectory }
    const loose = { RATE_LIMIT: 'off', EGRESS_ALLOW: '127.0.0.0/8', LOG_LEVEL: 'error', PORT: '0' }
    const service = new ServiceApart(t, name, { ...settings, ...loose, INSTANCE: instance })
    all.push(service)
    return service
  }
  await start('setup', 'setup').ended
  const credentials = JSON.parse(readFileSync(join(dataDirectory, 'credentials.json'), 'utf8')) as Credentials
  for (const name of services) for (const copy of [1, 2]) start(name, `${name}-${copy}`)
  await Promise.all(all.filter(({ name }) => name !== 'setup').map((service) => service.port()))
  return { pool, broker, credentials, start, all }
}

const { pool, broker, credentials, start, all } = await world(t)
const listener = await listen()
t.teardown(() => listener.close())
const clients = await Promise.all(
  all
    .filter(({ name }) => name === 'api')
    .map(async (api) => {
      return clientOf({ port: await api.port(), credentials })
    }),
)
const [first, second] = clients as [MerchantClient, MerchantClient]

const heard = (resource: string, type: string) =>
  listener.heard.filter((one: ReceivedWebhook) => {
    return one.resource === resource && one.type === type
  })

let payouts = 0

/** A payout that the simulated operator pays, until it is paid, listed and told. */
async function payOut(client: MerchantClient): Promise<string> {
  payouts += 1
  const { status, body } = await client.post('/api/v1/payouts', {
    amount: 5_000,
    currency: 'XOF',
    destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000001' },
    metadata: { number: String(payouts) },
  })
  if (status !== 201) throw new Error(`the payout was refused: ${JSON.stringify(body)}`)
  const id = String(body['id'])
  await eventually(
    async () => (await client.get(`/api/v1/payouts/${id}`)).body['status'],
    (now) => now === 'paid',
  )
  await eventually(
    async () => listed(client, id),
    (now) => now === 'paid',
  )
  await eventually(
    async () => heard(id, 'payout.paid').length,
    (count) => count > 0,
  )
  return id
}

async function listed(client: MerchantClient, id: string): Promise<unknown> {
  const { body } = await client.get<{ data: { id: string; status: string }[] }>('/api/v1/merchant/payouts')
  return body.data.find((one) => one.id === id)?.status
}

const copies = (name: ServiceName) => all.filter((service) => service.name === name)

/** The one of these that leads. */
async function leaderOf(candidates: readonly ServiceApart[]): Promise<ServiceApart> {
  const leading = async () => {
    const leads = await Promise.all(candidates.map((candidate) => candidate.leads()))
    return candidates.filter((_, index) => leads[index])
  }
  const [leader] = await eventually(leading, ({ length }) => length === 1)
  return leader!
}

t.test('a payout is paid and told by services that share nothing but their engines', async (t) => {
  const types = ['payout.paid']
  const hook = await first.post('/api/v1/webhook-endpoints', { url: listener.url, enabled_events: types })
  t.equal(hook.status, 201)
  listener.expect(String(hook.body['secret']))
  t.ok(await payOut(first))
  t.ok(await payOut(second), 'through the other API too')
})

t.test('of two copies one leads, both are ready, and each names what it stands on', async (t) => {
  for (const name of led) {
    await leaderOf(copies(name))
    for (const copy of copies(name))
      t.match(await copy.readiness(), { status: 200, body: { status: 'ready' } })
  }
  const [relay] = copies('relay')
  const up = { status: 'up' }
  t.match((await relay!.readiness()).body.dependencies, { event_store: up, postgres: up, kafka: up })
  const metrics = await fetch(`http://127.0.0.1:${await relay!.port()}/metrics`)
  t.match(await metrics.text(), /^leading\{name="relay"\} [01]$/m)
})

t.test('when leaders are killed, those that stand by take over', async (t) => {
  const leaders = await Promise.all(led.map((name) => leaderOf(copies(name))))
  const standby = (leader: ServiceApart) => copies(leader.name).filter((one) => one !== leader)
  await Promise.all(leaders.map((leader) => leader.end('SIGKILL')))
  await Promise.all(
    leaders.map(async (leader) => t.ok(await leaderOf(standby(leader)), `${leader.name} is led`)),
  )
  t.ok(await payOut(first))
  for (const leader of leaders) all.splice(all.indexOf(leader), 1)
  await Promise.all(led.map((name) => start(name, `${name}-3`).port()))
})

t.test('when a consumer is killed, what it had in hand is delivered by the other', async (t) => {
  const [killed] = copies('webhooks')
  const { body } = await first.post('/api/v1/payouts', {
    amount: 5_000,
    currency: 'XOF',
    destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000001' },
  })
  await killed!.end('SIGKILL')
  all.splice(all.indexOf(killed!), 1)
  await eventually(
    async () => heard(String(body['id']), 'payout.paid').length,
    (count) => count > 0,
  )
  t.ok(await payOut(second))
})

t.test('a leader that sleeps while another is elected writes nothing when it wakes up', async (t) => {
  await pool.query(auditing)
  const sleepers = await Promise.all(led.map((name) => leaderOf(copies(name))))
  for (const sleeper of sleepers) sleeper.signal('SIGSTOP')
  const awake = (sleeper: ServiceApart) => copies(sleeper.name).filter((one) => one !== sleeper)
  await Promise.all(sleepers.map((sleeper) => leaderOf(awake(sleeper))))
  await payOut(first)
  // Work for whoever wakes up and believes that it still leads.
  const pending = await Promise.all([first, second].map((client) => payOut(client)))
  t.equal(pending.length, 2)
  const { rows: elected } = await pool.query<{ name: string; instance: string; since: string }>(
    leadersStatement,
  )
  for (const sleeper of sleepers) sleeper.signal('SIGCONT')
  for (const sleeper of sleepers)
    await eventually(
      () => sleeper.leads(),
      (leads) => !leads,
    )
  await payOut(second)
  await lawOver(t, sleepers, async ({ name, instance }) => {
    const { since } = elected.find((one) => one.name === name)!
    const text = "select what from audit where who = $1 and at >= $2 and what not like 'timer_attempts %'"
    t.same((await pool.query(text, [instance, since])).rows, [], `${instance} has written nothing`)
  })
  const others = await pool.query('select distinct who from audit where not (who = any($1))', [
    sleepers.map(({ instance }) => instance),
  ])
  t.ok(others.rowCount! >= led.length, 'those who lead have written')
  const { rows: still } = await pool.query(leadersStatement)
  t.same(still, elected, 'nobody was elected anew')
})

t.test('what is down is named, and found again', async (t) => {
  const [relay] = copies('relay')
  const kafka = async () => {
    const { status, body } = await relay!.readiness()
    return { status, kafka: body.dependencies['kafka']?.status }
  }
  process.kill(broker.pid, 'SIGSTOP')
  t.match(await eventually(kafka, ({ status }) => status === 503), { kafka: 'down' })
  process.kill(broker.pid, 'SIGCONT')
  t.match(await eventually(kafka, ({ status }) => status === 200), { kafka: 'up' })
  t.ok(await payOut(first))
})

t.test('every process stops when it is asked to', async (t) => {
  for (const service of all) service.signal('SIGTERM')
  const codes = await Promise.all(all.map(async ({ instance, ended }) => [instance, await ended]))
  t.same(
    codes,
    all.map(({ instance }) => [instance, 0]),
  )
  // Processes that take live money say at their start that there is none to be had.
  await lawOver(t, all, ({ instance, errors }) => t.match(errors, /^(No live provider [^\n]+\n)?$/, instance))
})

/** Without the shares of the timers: who wakes up gets its part of them back. */
const leadersStatement = "select * from leaders where name not like 'timers %' order by name"

/** Who has written what leaders write, and when. */
const auditing = `
  create table audit (
    who text not null default current_setting('application_name'),
    at timestamptz not null default clock_timestamp(),
    what text not null
  );
  create function audit() returns trigger language plpgsql as $$
  begin
    insert into audit (what) values (tg_table_name || ' ' || tg_op);
    return null;
  end $$;
  do $$
  declare written regclass;
  begin
    for written in
      select (schemaname || '.' || tablename)::regclass from pg_tables
      where schemaname = 'read' or tablename in ('checkpoints', 'parked', 'public_events', 'timer_attempts')
    loop
      execute format(
        'create trigger audit after insert or update or delete on %s execute function audit()', written);
    end loop;
  end $$`
