import type { Command } from 'commander'
import { addMasterKey, keepMasterKeys, loadMasterKeys } from '../../../infra/secrets/master-key.ts'
import { keyId } from '../../../infra/secrets/vault.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { commandOf } from '../terminal/arguments.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { withRuntime } from '../dependencies.ts'
import { counted, print, table, type Printing } from '../terminal/output.ts'
import { upToDate, whileProjecting } from '../projecting.ts'
import { Sealed, type Uses } from './sealed.ts'
import { addTokenKeys } from './token-keys.ts'

export function addSecrets(program: Command): void {
  const secrets = program
    .command('secrets')
    .description('the master key and what is sealed with it at rest, and the keys that sign tokens')
  addTokenKeys(secrets)
  commandOf(secrets, 'status', 'which key seals what').action((options: Printing) =>
    withRuntime((runtime) => status(runtime, options)),
  )
  commandOf(secrets, 'rotate', 'make a new master key, and seal all secrets that are in use with it').action(
    (options: Printing) => withRuntime((runtime) => rotate(runtime, options)),
  )
  commandOf(secrets, 'forget', 'delete the older master keys, when nothing in use needs them').action(
    (options: Printing) => withRuntime((runtime) => forget(runtime, options)),
  )
}

function keysOf({ configuration: { dataDirectory, masterKey } }: Runtime) {
  const keys = loadMasterKeys(dataDirectory, masterKey)
  return { keys, current: keyId(keys.current), older: keys.older.map(keyId) }
}

async function status(runtime: Runtime, options: Printing): Promise<void> {
  const uses = await sealedNow(runtime)
  const { current, older } = keysOf(runtime)
  const shown = [current, ...older].map((key, index) => ({
    key,
    use: index === 0 ? 'seals and opens' : 'opens',
    endpoints: uses.filter(({ kind, keys }) => kind === 'endpoint' && keys.has(key)).length,
    answers: uses.filter(({ kind, keys }) => kind === 'answer' && keys.has(key)).length,
    personal_keys: uses.filter(({ kind, keys }) => kind === 'personal key' && keys.has(key)).length,
    log_keys: uses.filter(({ kind, keys }) => kind === 'log key' && keys.has(key)).length,
    index_keys: uses.filter(({ kind, keys }) => kind === 'index key' && keys.has(key)).length,
    token_keys: uses.filter(({ kind, keys }) => kind === 'token key' && keys.has(key)).length,
  }))
  print(shown, options, () => table(shown, ''))
}

/** An interrupted rotation is completed; it needs no other key. */
async function rotate(runtime: Runtime, options: Printing): Promise<void> {
  const { dataDirectory, masterKey } = runtime.configuration
  const isUnderWay = staleOf(await sealedNow(runtime), keysOf(runtime).current).length > 0
  if (!isUnderWay && masterKey !== undefined) throw new CommandFailedError(isGiven)
  if (!isUnderWay) addMasterKey(dataDirectory)
  const resealed = await reseal(runtime)
  const { current, older } = keysOf(runtime)
  print({ key: current, older, resealed }, options, () => rotatedText(current, older, resealed))
}

const isGiven =
  'MASTER_KEY is set and seals everything, so the next key has to come from there: set it to <new>,<old> for ' +
  'every process (docs/operations.md says in which steps), then run this command again.'

function rotatedText(current: string, older: readonly string[], resealed: number): string {
  return [
    `${counted(resealed, 'secret')} sealed anew; master key ${current} seals from now on.`,
    `Events are never changed, so what the log keeps of earlier secrets stays sealed with ${older.join(', ')};`,
    'nothing opens it any more. `ikw secrets forget` deletes these keys when nothing in use needs them.',
  ].join('\n')
}

async function forget(runtime: Runtime, options: Printing): Promise<void> {
  const { dataDirectory, masterKey } = runtime.configuration
  const { keys, current, older } = keysOf(runtime)
  const stale = staleOf(await sealedNow(runtime), current)
  if (stale.length > 0) {
    throw new CommandFailedError(
      `${counted(stale.length, 'secret')} in use need an older key: run \`ikw secrets rotate\`.`,
    )
  }
  if (masterKey === undefined) keepMasterKeys(dataDirectory, { ...keys, older: [] })
  print({ key: current, forgotten: older }, options, () => forgottenText(older, masterKey !== undefined))
}

function forgottenText(older: readonly string[], isSet: boolean): string {
  if (older.length === 0) return 'There is one key only.'
  return isSet
    ? `Nothing needs ${older.join(', ')}: take them out of MASTER_KEY.`
    : `Deleted: ${older.join(', ')}.`
}

function staleOf(uses: readonly Uses[], current: string): readonly Uses[] {
  return uses.filter(({ keys }) => [...keys].some((key) => key !== current))
}

/** As long as a process that knows only the older key keeps sealing with it, there is more to do. */
async function reseal(runtime: Runtime): Promise<number> {
  let resealed = 0
  for (;;) {
    const stale = staleOf(await sealedNow(runtime), keysOf(runtime).current)
    if (stale.length === 0) return resealed
    for (const { reseal: again } of stale) await again()
    resealed += stale.length
  }
}

/** All endpoints, according to the read model. */
async function sealedNow(runtime: Runtime): Promise<readonly Uses[]> {
  await whileProjecting(runtime, () => upToDate(runtime))
  return new Sealed(runtime).uses()
}
