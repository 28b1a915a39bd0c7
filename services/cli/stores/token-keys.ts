import type { Command } from 'commander'
import { tokenKeys, tokenKeysId } from '../../../packages/domain/sign-in/token-keys.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { commandOf } from '../terminal/arguments.ts'
import { withRuntime } from '../dependencies.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { print, table, type Printing } from '../terminal/output.ts'
import { signed, type Signed } from '../audit/signed.ts'

export function addTokenKeys(secrets: Command): void {
  commandOf(secrets, 'token-keys', 'the keys that sign what users are handed, newest first').action(
    (options: Printing) => withRuntime((runtime) => showAll(runtime, options)),
  )
  signed(commandOf(secrets, 'retire-token-key', 'end a key that has leaked, and all that it has signed'))
    .argument('<id>', 'its `kid` in tokens and in /.well-known/jwks.json')
    .action((id: string, options: Signed) => withRuntime((runtime) => retire(runtime, id, options)))
}

async function showAll({ dependencies: { store } }: Runtime, options: Printing): Promise<void> {
  const { keys } = await readState(store, tokenKeys, tokenKeysId)
  const shown = keys.toReversed().map(({ id, madeAt }, index) => ({
    id,
    made: madeAt,
    use: index === 0 ? 'signs' : 'opens what it has signed',
  }))
  print(shown, options, () =>
    table(shown, 'There is none yet: the first one is made when somebody signs in.'),
  )
}

/** Running processes know it within a second, and the next one that signs makes another. */
async function retire({ dependencies }: Runtime, id: string, options: Signed): Promise<void> {
  const { executor, newId } = dependencies
  const data = { id, reason: options.reason }
  const envelope = { platform: true, actor: `cli:${options.by}`, correlation: newId() } as const
  const { appended } = await executor.send(tokenKeys, tokenKeysId, { type: 'RetireTokenKey', data }, envelope)
  if (appended === 0) throw new CommandFailedError(`There is no key ${id} that is in use.`)
  print(
    { id, status: 'retired' },
    options,
    () => `${id} is retired. Everybody whom it let in signs in again.`,
  )
}
