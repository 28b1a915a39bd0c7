import type { Command } from 'commander'
import { listParked, wishRetry } from '../../infra/postgres/parked.ts'
import { commandOf } from './arguments.ts'
import { CannotDo } from './failure.ts'
import { withHouse } from './house.ts'
import { counted, print, table, type Printing } from './output.ts'

export function addParked(program: Command): void {
  const parked = program
    .command('parked')
    .description('events that a consumer could not handle, and those that wait behind them')
  commandOf(parked, 'list', 'what is parked, oldest first').action(showAll)
  commandOf(parked, 'retry [stream]', 'ask for another try of all that is parked, or of one stream').action(
    retry,
  )
}

async function showAll(options: Printing): Promise<void> {
  const found = await withHouse(({ postgres: { pool } }) => listParked(pool))
  const shown = found.map(({ consumer, stream, revision, position, type, error, eventId, parkedAt }) => {
    return { consumer, stream, revision, position, type, error, event: eventId, parked_at: parkedAt }
  })
  print(shown, options, () => table(shown, 'Nothing is parked.'))
}

async function retry(stream: string | undefined, options: Printing): Promise<void> {
  const asked = await withHouse(({ postgres: { pool } }) => wishRetry(pool, stream))
  if (asked === 0 && stream !== undefined) {
    throw new CannotDo(`Nothing of ${stream} is parked: see \`ikw parked list\`.`)
  }
  print({ asked }, options, () => sentence(asked))
}

function sentence(asked: number): string {
  if (asked === 0) return 'Nothing is parked.'
  return (
    `Another try of ${counted(asked, 'parked event')} is asked for. The running service makes it within a ` +
    'second, or as soon as it starts; what `ikw parked list` shows then has failed again.'
  )
}
