import { InvalidArgumentError, type Command } from 'commander'
import { markets, paymentCurrencies } from '../../packages/contract/payments/catalog.ts'
import { merchant, type Merchant, type MerchantCommands } from '../../packages/domain/merchants/merchant.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { organization as organizations } from '../../packages/domain/organizations/organization.ts'
import { merchantOf } from '../../packages/domain/organizations/policies.ts'
import { commandOf, idOf } from './terminal/arguments.ts'
import { withRuntime } from './dependencies.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { print } from './terminal/output.ts'
import { ownerWith } from './owners.ts'
import { signed, type Signed } from './audit/signed.ts'

interface Creating extends Signed {
  readonly name: string
  readonly country: string
  readonly currency: string
  readonly email: string
  readonly owner?: string
}

export function addMerchants(program: Command): void {
  const group = program.command('merchants').description('merchants: create, suspend, activate')
  signed(commandOf(group, 'create', 'a new merchant; `ikw keys create --merchant` makes its keys'))
    .requiredOption('--name <name>', 'what it is called')
    .requiredOption('--country <code>', 'ISO 3166-1 alpha-2', code(2))
    .requiredOption('--currency <code>', 'ISO 4217', code(3))
    .requiredOption('--email <address>', 'where mails to it go', address)
    .option('--owner <address>', 'who owns it; whoever has the address of --email when left out', address)
    .action((options: Creating) => withRuntime((runtime) => create(runtime, options)))
  signed(commandOf(group, 'suspend', 'it may look, and change nothing; nothing is paid by schedule'))
    .argument('<merchant>', 'its id', idOf())
    .action((id: string, options: Signed) =>
      withRuntime((runtime) => change(runtime, { id, to: 'suspended' }, options)),
    )
  signed(commandOf(group, 'activate', 'end a suspension'))
    .argument('<merchant>', 'its id', idOf())
    .action((id: string, options: Signed) =>
      withRuntime((runtime) => change(runtime, { id, to: 'active' }, options)),
    )
}

async function create(runtime: Runtime, options: Creating): Promise<void> {
  const { name, country, currency, email } = options
  requireMarket(options)
  const { dependencies } = runtime
  const { executor, newId } = dependencies
  const [id, organization] = [newId(), newId()]
  const sending = { actor: `cli:${options.by}`, correlation: id }
  const owner = await ownerWith(dependencies, options.owner ?? email, { merchant: id, country, sending })
  const founder = { user: owner.id, email, currency }
  const unit = { displayName: name, country, type: 'company', parent: null, merchant: id, founder } as const
  const create = { type: 'CreateOrganization', data: unit } as const
  await executor.send(organizations, organization, create, { organization, ...sending })
  // What the policy does a moment later, if the service runs.
  const { decider, command } = merchantOf(organization, unit)!
  const envelope = { merchant: id, livemode: false, ...sending }
  await executor.sendAll(decider, id, [{ command, envelope }])
  const shown = { id, status: 'active', organization, owner: owner.id }
  const mailed = owner.isNew ? ' A mail lets the owner choose a password.' : ''
  print(shown, options, () => `${id} is the merchant ${name}.${mailed}`)
}

/** Elsewhere nothing could be paid, and nobody knows whose days its months have. */
function requireMarket({ country, currency }: Creating): void {
  const currencies = paymentCurrencies(country)
  if (currencies.length === 0)
    throw new CommandFailedError(
      `--country ${country} is none of ${markets.map((market) => market.country).join(', ')}.`,
    )
  if (!currencies.includes(currency))
    throw new CommandFailedError(`--currency ${currency} is none of ${currencies.join(', ')}.`)
}

interface Change {
  readonly id: string
  readonly to: 'active' | 'suspended'
}

async function change(runtime: Runtime, { id, to: status }: Change, options: Signed): Promise<void> {
  const known: Merchant = await readState(runtime.dependencies.store, merchant, id)
  if (known.status === 'none') throw new CommandFailedError(`There is no merchant ${id}.`)
  const type = status === 'active' ? 'ActivateMerchant' : 'SuspendMerchant'
  await send(runtime, { id, command: { type, data: { reason: options.reason } } }, options)
  print({ id, status }, options, () => `${known.name} is ${status}.`)
}

interface Sending {
  readonly id: string
  readonly command: Message<MerchantCommands>
}

/** A merchant's stream belongs to both environments, so its events carry livemode false. */
async function send({ dependencies }: Runtime, { id, command }: Sending, { by }: Signed): Promise<void> {
  const { executor, newId } = dependencies
  await executor.send(merchant, id, command, {
    merchant: id,
    livemode: false,
    actor: `cli:${by}`,
    correlation: newId(),
  })
}

function code(length: number): (text: string) => string {
  return (text) => {
    const upper = text.toUpperCase()
    if (/^[A-Z]+$/.test(upper) && upper.length === length) return upper
    throw new InvalidArgumentError(`It takes ${length} letters.`)
  }
}

function address(text: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 254) return text
  throw new InvalidArgumentError('It takes an e-mail address.')
}
