import type { Command } from 'commander'
import {
  deliveryStatuses,
  listDeliveries,
  retryDeliveries,
  type DeliveryFilter,
  type LoggedDelivery,
} from '../../infra/postgres/webhooks/delivery-log.ts'
import { firstCharacters } from '../../packages/contract/locale/characters.ts'
import { publicId } from '../../packages/contract/identity.ts'
import { commandOf, count, idOf, word } from './terminal/arguments.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { withRuntime } from './dependencies.ts'
import { print, table, type Printing } from './terminal/output.ts'

/** UUIDs, as options take them. */
interface Chosen extends Printing {
  readonly endpoint?: string
  readonly event?: string
}

interface ListOptions extends Chosen {
  readonly status?: LoggedDelivery['status']
  readonly limit: number
}

const answerShownMax = 60

export function addDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('webhook deliveries')

  commandOf(deliveries, 'list', 'deliveries, newest first')
    .option('--endpoint <id>', 'only to this endpoint', idOf('webhook_endpoint'))
    .option('--event <id>', 'only of this event', idOf('event'))
    .option('--status <status>', `only ${deliveryStatuses.join(', ')}`, word(deliveryStatuses))
    .option('--limit <count>', 'at most so many', count(10_000), 20)
    .action(showAll)

  commandOf(
    deliveries,
    'retry [id]',
    'make deliveries due now that failed, were skipped or wait for their time',
  )
    .option('--endpoint <id>', 'all to this endpoint', idOf('webhook_endpoint'))
    .option('--event <id>', 'all of this event', idOf('event'))
    .action(retry)
}

function filterOf({ endpoint, event }: Chosen): DeliveryFilter {
  return { endpoint, event: event && publicId('evt', event) }
}

async function showAll(options: ListOptions): Promise<void> {
  const { status, limit } = options
  const query = { ...filterOf(options), status, limit }
  const found = await withRuntime(({ postgres: { pool } }) => listDeliveries(pool, query))
  const shown = found.map(view)
  print(shown, options, () => table(shown.map(brief), 'There are no such deliveries.'))
}

function view(delivery: LoggedDelivery) {
  return {
    id: delivery.id,
    event: delivery.event,
    type: delivery.type,
    endpoint: publicId('we', delivery.endpoint),
    environment: delivery.livemode ? 'live' : 'sandbox',
    status: delivery.status,
    attempts: delivery.attempts,
    replay: delivery.isReplay,
    due_at: delivery.dueAt,
    last_attempt_at: delivery.lastAttemptAt,
    last_status: delivery.lastStatus,
    last_answer: delivery.lastAnswer,
    created_at: delivery.createdAt,
  }
}

/** What fits on a screen. */
function brief({ id, event, type, endpoint, status, attempts, due_at, last_status, last_answer }: Shown) {
  const answer = last_answer && firstCharacters(last_answer.replaceAll(/\s+/g, ' '), answerShownMax)
  return { id: String(id), event, type, endpoint, status, attempts, due_at, last_status, answer }
}

type Shown = ReturnType<typeof view>

async function retry(text: string | undefined, options: Chosen): Promise<void> {
  const id = text === undefined ? undefined : deliveryId(text)
  const filter = { ...filterOf(options), id }
  if (Object.values(filter).every((value) => value === undefined)) {
    throw new CommandFailedError('Name a delivery by its id, or choose with --endpoint or --event.')
  }
  await withRuntime(async ({ postgres: { pool }, dependencies }) => {
    const retried = await retryDeliveries(pool, filter, dependencies.clock())
    const isKnown = retried > 0 || (await listDeliveries(pool, { ...filter, limit: 1 })).length > 0
    if (!isKnown) throw new CommandFailedError('There is no such delivery: `ikw deliveries list` shows them.')
    print({ retried }, options, () => sentence(retried))
  })
}

function deliveryId(text: string): number {
  const id = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(id)) return id
  throw new CommandFailedError(
    `"${text}" is no id of a delivery: it is a number, which \`ikw deliveries list\` shows.`,
  )
}

function sentence(retried: number): string {
  if (retried === 0) {
    return 'Nothing is to be retried: what was delivered is sent again with POST /api/v1/webhook-replays.'
  }
  const what = retried === 1 ? 'delivery is' : 'deliveries are'
  return `${retried} ${what} due now; the running service sends what is due.`
}
