import { readConfiguration } from '../infra/configuration.ts'
import { InProcessBus } from '../infra/event-bus/in-process.ts'
import { addressBlocks } from '../infra/http/addresses.ts'
import { guardedPools } from '../infra/http/egress.ts'
import { Deliveries } from '../infra/postgres/webhooks/deliveries.ts'
import { Replays } from '../infra/postgres/webhooks/replays.ts'
import type { PublicEvent } from '../packages/kernel/ports/messages.ts'
import { openRuntime } from '../services/composition/dependencies.ts'
import { startWebhooks } from '../services/webhooks/main.ts'
import { webhookCalls } from '../services/webhooks/service.ts'

/**
 * The webhook service in a process of its own, as in distributed mode. A message names public events stored
 * in Postgres; the bus hands them over in batches, as the relay makes them.
 */

export interface Publication {
  /** Sequences after `after` up to and including `through`. */
  readonly after: number
  readonly through: number
}

export interface Published {
  readonly event: 'ready' | 'published'
}

const batchSize = 500
const batchesAhead = 6
const configuration = readConfiguration()
const runtime = await openRuntime(configuration)
const { pool } = runtime.postgres
const bus = new InProcessBus()
const webhooks = await startWebhooks({
  ...runtime.dependencies,
  bus,
  deliveries: new Deliveries(runtime.postgres.url),
  replays: new Replays(pool),
  egress: guardedPools({ ...webhookCalls, allow: addressBlocks(configuration.egressAllow) }),
  addressOf: async () => undefined,
})

process.on('message', ({ after, through }: Publication) => {
  void publish(after, through).then(() => say('published'))
})
process.once(
  'SIGTERM',
  () =>
    void webhooks
      .close()
      .then(() => runtime.close())
      .then(() => process.exit()),
)
say('ready')

/** Reads ahead as a Kafka consumer does, so that nothing waits for what is not measured. */
async function publish(after: number, through: number): Promise<void> {
  const batches = Math.ceil((through - after) / batchSize)
  const readBatch = (index: number) => read(after + index * batchSize, through)
  const coming = Array.from({ length: Math.min(batchesAhead, batches) }, (_, index) => readBatch(index))
  for (let index = 0; index < batches; index++) {
    const events = await coming.shift()!
    if (index + batchesAhead < batches) coming.push(readBatch(index + batchesAhead))
    await bus.publish(events)
  }
}

async function read(from: number, through: number): Promise<readonly PublicEvent[]> {
  const { rows } = await pool.query<PublicEvent>({
    name: 'publish',
    text: `select id, type, merchant, livemode, resource, position, sequence, payload from public_events
      where position > $1 and position <= $2 order by position`,
    values: [from, Math.min(from + batchSize, through)],
  })
  return rows
}

function say(event: Published['event']): void {
  process.send!({ event } satisfies Published)
}
