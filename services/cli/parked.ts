import type { Command } from 'commander'
import {
  dismissMessage,
  isParkedMessage,
  listParked,
  requestRetry,
} from '../../infra/postgres/consumers/parked.ts'
import { commandOf } from './terminal/arguments.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { withRuntime } from './dependencies.ts'
import { counted, print, table, type Printing } from './terminal/output.ts'

export function addParked(program: Command): void {
  const parked = program
    .command('parked')
    .description('events that a consumer could not handle, and those that wait behind them')
  commandOf(parked, 'list', 'what is parked, oldest first').action(showAll)
  commandOf(parked, 'retry [stream]', 'ask for another try of all that is parked, or of one stream').action(
    retry,
  )
  commandOf(
    parked,
    'dismiss <message>',
    'take a message of the bus off the list, which is no event and cannot be tried again',
  ).action(dismiss)
}

async function showAll(options: Printing): Promise<void> {
  const found = await withRuntime(({ postgres: { pool } }) => listParked(pool))
  const shown = found.map(({ consumer, stream, revision, position, type, error, eventId, ...times }) => {
    const { parkedAt: parked_at, retryAt: retry_at } = times
    return { consumer, stream, revision, position, type, error, event: eventId, parked_at, retry_at }
  })
  print(shown, options, () => table(shown, 'Nothing is parked.'))
}

async function retry(stream: string | undefined, options: Printing): Promise<void> {
  const asked = await withRuntime(async ({ postgres: { pool } }) => {
    if (stream !== undefined && (await isParkedMessage(pool, stream)))
      throw new CommandFailedError(noEvent(stream))
    return requestRetry(pool, stream)
  })
  if (asked === 0 && stream !== undefined) throw new CommandFailedError(notParked(stream))
  print({ asked }, options, () => sentence(asked))
}

async function dismiss(message: string, options: Printing): Promise<void> {
  const dismissed = await withRuntime(({ postgres: { pool } }) => dismissMessage(pool, message))
  if (!dismissed) throw new CommandFailedError(notParked(message))
  print({ dismissed: message }, options, () => `${message} is not listed any more.`)
}

const notParked = (what: string) => `Nothing of ${what} is parked: see \`ikw parked list\`.`

const noEvent = (message: string) =>
  `${message} is a message of the bus that is no event, so there is nothing to try again. Read it there, by its ` +
  'topic, partition and offset; `ikw parked dismiss` takes it off the list.'

function sentence(asked: number): string {
  if (asked === 0) return 'No event is parked.'
  return (
    `Another try of ${counted(asked, 'parked event')} is asked for. The running service makes it within a ` +
    'second, or as soon as it starts; what `ikw parked list` shows then has failed again.'
  )
}
