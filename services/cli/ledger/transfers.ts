import type { Command } from 'commander'
import { derivedId } from '../../../packages/contract/identity.ts'
import { merchantAvailable } from '../../../packages/domain/ledger/accounts.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import {
  isSameTransfer,
  requested,
  transfer,
  type Transfer,
  type TransferTerms,
} from '../../../packages/domain/transfers/transfer.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { to } from '../../../packages/kernel/policy.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { commandOf, count, currencyCode, idOf } from '../terminal/arguments.ts'
import { withRuntime } from '../dependencies.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { intervene } from '../intervene.ts'
import { print, table, type Printing } from '../terminal/output.ts'
import { signed, type Signed } from '../audit/signed.ts'

interface Creating extends Signed {
  readonly from: string
  readonly to: string
  readonly amount: number
  readonly currency: string
  readonly key: string
  readonly live?: true
}

export function addTransfers(program: Command): void {
  const group = program.command('transfers').description("money from one merchant's balance to another's")
  signed(commandOf(group, 'create', 'move money between two balances; large ones take two names'))
    .requiredOption('--from <merchant>', 'who pays', idOf())
    .requiredOption('--to <merchant>', 'who gets it', idOf())
    .requiredOption('--amount <amount>', 'in the smallest unit', count(Number.MAX_SAFE_INTEGER))
    .requiredOption('--currency <code>', 'ISO 4217', currencyCode)
    .requiredOption('--key <text>', 'stands for one transfer of who pays, such as an invoice number')
    .option('--live', 'in the live environment instead of the sandbox')
    .action((options: Creating) => withRuntime((runtime) => create(runtime, options)))
  commandOf(group, 'show', 'where the money of a transfer is')
    .argument('<transfer>', 'its id', idOf())
    .action((id: string, options: Printing) => withRuntime((runtime) => show(runtime, id, options)))
}

async function create(runtime: Runtime, options: Creating): Promise<void> {
  const { from, to: receiver, amount, currency, key, live, reason } = options
  if (from === receiver) throw new CommandFailedError('A transfer is between two merchants.')
  const livemode = live === true
  const id = derivedId(from, `transfer ${livemode} ${key}`)
  const data = {
    amount,
    currency,
    from: { merchant: from, account: merchantAvailable },
    to: { merchant: receiver, account: merchantAvailable },
    description: reason,
  } as const
  await requireFree(runtime, id, { key, data })
  const act = {
    action: 'transfers create',
    // Whoever approves names the same receiver, amount and currency: anything else is a proposal of its own.
    id: derivedId(id, `${receiver} ${amount} ${currency}`),
    subject: id,
    owner: { merchant: from, livemode },
    money: { amount, currency },
    orders: [to(transfer, id, { type: 'RequestTransfer', data })],
  }
  await intervene(runtime, act, options)
}

interface Wanted {
  readonly key: string
  readonly data: TransferTerms
}

/** A key stands for one transfer; a new one is between merchants who may do business. */
async function requireFree({ dependencies }: Runtime, id: string, { key, data }: Wanted): Promise<void> {
  const { store } = dependencies
  const known: Transfer = await readState(store, transfer, id)
  if (known.status !== 'none') {
    if (isSameTransfer(known, data)) return
    const { amount, currency, to: receiver } = known
    throw new CommandFailedError(
      `The key ${key} stands for another transfer: ${amount} ${currency} to ${receiver.merchant}.`,
    )
  }
  for (const { merchant: party } of [data.from, data.to]) {
    const { status } = await readState(store, merchant, party)
    if (status === 'none') throw new CommandFailedError(`There is no merchant ${party}.`)
    if (status === 'suspended') throw new CommandFailedError(`Merchant ${party} is suspended.`)
  }
}

async function show({ dependencies }: Runtime, id: string, options: Printing): Promise<void> {
  const state: Transfer = await readState(dependencies.store, transfer, id)
  if (state.status === 'none') throw new CommandFailedError(`There is no transfer ${id}.`)
  const { from, to: receiver, amount, currency, status, livemode, createdAt } = requested(state)
  const shown = {
    id,
    status,
    amount,
    currency,
    environment: livemode ? 'live' : 'sandbox',
    from: from.merchant,
    to: receiver.merchant,
    created: createdAt,
    reason: 'reason' in state ? state.reason : null,
  }
  print(shown, options, () => table([shown], ''))
}
