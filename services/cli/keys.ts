import { createHash } from 'node:crypto'
import { InvalidArgumentError, type Command } from 'commander'
import { isListable } from '../../infra/http/addresses.ts'
import { isForUsersOnly } from '../../packages/contract/access/roles.ts'
import {
  apiKey,
  apiKeyId,
  overlapSecondsMax,
  statusOf,
  type ApiKey,
  type ApiKeyCommands,
  type ExistingApiKey,
} from '../../packages/domain/api-keys/api-key.ts'
import { scopes } from '../../packages/domain/index.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { DocumentRow } from '../../packages/kernel/ports/reads.ts'
import { apiKeys } from '../../projections/api-keys.ts'
import { newSecret } from '../composition/first-merchant.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { commandOf, idOf, list, time, word } from './terminal/arguments.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { readCredentials, withRuntime } from './dependencies.ts'
import { print, table, type Printing } from './terminal/output.ts'
import { upToDate, whileProjecting } from './projecting.ts'

const environments = ['sandbox', 'live'] as const
const ofKeys = scopes.filter((scope) => !isForUsersOnly(scope))
const secondsPerHour = 3_600

interface CreateOptions extends Printing {
  readonly name: string
  readonly scopes: readonly string[]
  readonly environment: (typeof environments)[number]
  readonly app?: true
  readonly expires?: Date
  readonly addresses: readonly string[]
  readonly merchant?: string
}

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('API keys and app tokens')

  commandOf(keys, 'create', 'issue a key; it is shown once and kept nowhere')
    .requiredOption('--name <name>', 'what people call it')
    .requiredOption('--scopes <scopes>', `comma-separated: * or some of ${ofKeys.join(', ')}`, readScopes)
    .requiredOption('--environment <environment>', 'sandbox or live', word(environments))
    .option('--app', 'an app token instead of an API key')
    .option('--expires <time>', 'day or time at which it ends', time)
    .option(
      '--addresses <addresses>',
      'comma-separated addresses or CIDR blocks that may use it',
      readAddresses,
      [],
    )
    .option('--merchant <id>', 'merchant; the first one when left out', idOf())
    .action((options: CreateOptions) => withRuntime((runtime) => create(runtime, options)))

  commandOf(keys, 'list', 'all keys, newest first; the keys themselves are not kept')
    .option('--merchant <id>', 'only of this merchant', idOf())
    .action((options: Printing & { merchant?: string }) =>
      withRuntime((runtime) => showAll(runtime, options)),
    )

  commandOf(keys, 'roll <id>', 'issue a key with the same rights; the old one stops at once, or later')
    .option('--app', 'an app token instead of an API key')
    .option('--overlap-hours <hours>', 'how long the old key works beside the new one', hours, 0)
    .action((id: string, options: Rolling) => withRuntime((runtime) => roll(runtime, id, options)))

  commandOf(keys, 'revoke <id>', 'end a key at once').action((id: string, options: Printing) =>
    withRuntime((runtime) => revoke(runtime, id, options)),
  )
}

async function create(runtime: Runtime, options: CreateOptions): Promise<void> {
  const { name, environment, app, expires, addresses } = options
  const owner = options.merchant ?? readCredentials(runtime.configuration).merchant_id
  if ((await readState(runtime.dependencies.store, merchant, owner)).status === 'none') {
    throw new CommandFailedError(`There is no merchant ${owner}.`)
  }
  if (expires && expires <= runtime.dependencies.clock())
    throw new CommandFailedError('A key must end in the future.')
  const expiresAt = expires?.toISOString() ?? null
  const issued = await issue(runtime, {
    merchant: owner,
    livemode: environment === 'live',
    app,
    details: { name, scopes: [...options.scopes], addresses: [...addresses], expiresAt },
  })
  print(issued, options, () => announce(issued))
}

type Details = Omit<ApiKeyCommands['IssueApiKey'], 'hash' | 'last4'>

interface NewKey {
  readonly merchant: string
  readonly livemode: boolean
  readonly app: true | undefined
  readonly details: Details
}

interface Issued {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly environment: (typeof environments)[number]
  readonly scopes: readonly string[]
}

async function issue(runtime: Runtime, { merchant: owner, livemode, app, details }: NewKey): Promise<Issued> {
  const { key, ...stored } = newKey(livemode, app)
  const { name, scopes: allowed } = details
  const issued = await issueAs(runtime, { merchant: owner, livemode }, { ...details, ...stored })
  return { ...issued, key, name, scopes: allowed }
}

async function issueAs(
  { dependencies }: Runtime,
  owner: MerchantOwner,
  data: ApiKeyCommands['IssueApiKey'],
): Promise<Pick<Issued, 'id' | 'environment'>> {
  const id = apiKeyId(data.hash)
  const envelope = { ...owner, actor: 'cli', correlation: dependencies.newId(), isNew: true }
  await dependencies.executor.send(apiKey, id, { type: 'IssueApiKey', data }, envelope)
  return { id, environment: owner.livemode ? 'live' : 'sandbox' }
}

function newKey(livemode: boolean, app: true | undefined) {
  const kind = app ? ('ik_app_' as const) : ('ik_' as const)
  const key = newSecret(`${kind}${livemode ? 'live' : 'test'}_`)
  return { key, hash: createHash('sha256').update(key).digest('hex'), last4: key.slice(-4) }
}

function announce({ id, key, name, environment }: Issued): string {
  return `${key}\n\nThis is the ${environment} key "${name}" (${id}). It is not shown again.`
}

interface Rolling extends Printing {
  readonly app?: true
  readonly overlapHours: number
}

async function roll(runtime: Runtime, text: string, options: Rolling): Promise<void> {
  const { id, key: old } = await known(runtime, text)
  if (old.status === 'revoked' || old.successor) {
    const state = old.successor ? 'rolled' : 'revoked'
    throw new CommandFailedError(`Key ${id} is ${state} already; make a new one with \`ikw keys create\`.`)
  }
  const { merchant: owner, livemode } = old
  const { key, ...stored } = newKey(livemode, options.app)
  const data = { ...stored, overlapSeconds: options.overlapHours * secondsPerHour }
  const state = await send(runtime, { id, key: old }, { type: 'RollApiKey', data })
  const { successor, expiresAt } = state as ExistingApiKey
  const { name, scopes: allowed } = successor!
  const issued = await issueAs(runtime, { merchant: owner, livemode }, successor!)
  const shown = { ...issued, key, name, scopes: allowed }
  const end = options.overlapHours > 0 ? `stops at ${expiresAt}` : 'is revoked'
  print({ ...shown, revoked: id }, options, () => `${announce(shown)}\nThe old key ${id} ${end}.`)
}

async function revoke(runtime: Runtime, text: string, options: Printing): Promise<void> {
  const { id, key } = await known(runtime, text)
  const command = { type: 'RevokeApiKey', data: { reason: 'revoked on the command line' } } as const
  if (key.status !== 'revoked') await send(runtime, { id, key }, command)
  print({ id, status: 'revoked' }, options, () => `Key ${id} ("${key.name}") is revoked.`)
}

async function known({ dependencies }: Runtime, text: string): Promise<Found> {
  const id = text.toLowerCase()
  const key = await readState(dependencies.store, apiKey, id)
  if (key.status !== 'none') return { id, key }
  throw new CommandFailedError(`There is no key ${text}: \`ikw keys list\` shows their ids.`)
}

interface Found {
  readonly id: string
  readonly key: ExistingApiKey
}

async function send(
  { dependencies }: Runtime,
  { id, key }: Found,
  command: Message<ApiKeyCommands>,
): Promise<ApiKey> {
  const { merchant: owner, livemode } = key
  const envelope = { merchant: owner, livemode, actor: 'cli', correlation: dependencies.newId() }
  return (await dependencies.executor.send(apiKey, id, command, envelope)).state
}

type KeyRow = DocumentRow & { readonly state: ExistingApiKey }

async function showAll(runtime: Runtime, options: Printing & { readonly merchant?: string }): Promise<void> {
  const rows = await whileProjecting(runtime, async () => {
    await upToDate(runtime)
    return allRows(runtime, options.merchant)
  })
  const shown = rows.map(({ id, state }) => ({
    id,
    name: state.name,
    environment: state.livemode ? 'live' : 'sandbox',
    status: statusOf(state, runtime.dependencies.clock()),
    last4: state.last4,
    scopes: state.scopes,
    addresses: state.addresses,
    expires_at: state.expiresAt,
    last_used_at: state.usedAt,
    created_at: state.at,
    merchant: state.merchant,
  }))
  const flat = shown.map((key) => ({
    ...key,
    scopes: key.scopes.join(','),
    addresses: key.addresses.join(','),
  }))
  print(shown, options, () => table(flat, 'There are no keys.'))
}

const pageRows = 100

async function allRows(
  { dependencies: { reads } }: Runtime,
  owner: string | undefined,
): Promise<readonly KeyRow[]> {
  const where = owner === undefined ? [] : [{ column: 'merchant', operator: '=' as const, value: owner }]
  const found: KeyRow[] = []
  for (;;) {
    const { rows } = await reads.page<KeyRow>({
      from: apiKeys.name,
      where,
      order: 'created',
      limit: pageRows,
      offset: found.length,
    })
    found.push(...rows)
    if (rows.length < pageRows) return found
  }
}

function readScopes(text: string): readonly string[] {
  const asked = list(text)
  const unknown = asked.find((scope) => scope !== '*' && !ofKeys.some((each) => each === scope))
  if (unknown !== undefined || asked.length === 0) {
    throw new InvalidArgumentError(
      `${unknown === undefined ? 'None is given' : `"${unknown}" is none`}: take * or ${ofKeys.join(', ')}.`,
    )
  }
  return asked
}

function readAddresses(text: string): readonly string[] {
  const asked = list(text)
  const wrong = asked.find((address) => !isListable(address))
  if (wrong !== undefined) {
    throw new InvalidArgumentError(`"${wrong}" is neither an address nor a CIDR block.`)
  }
  return asked
}

function hours(text: string): number {
  const asked = Number(text)
  const most = overlapSecondsMax / secondsPerHour
  if (Number.isInteger(asked) && asked >= 0 && asked <= most) return asked
  throw new InvalidArgumentError(`It takes a whole number of hours, up to ${most}.`)
}
