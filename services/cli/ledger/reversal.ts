import type { Command } from 'commander'
import { publicId } from '../../../packages/contract/identity.ts'
import { idPrefixes } from '../../../packages/domain/index.ts'
import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import { to } from '../../../packages/kernel/policy.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { findEntry } from '../../composition/books/journal-entries.ts'
import { commandOf, idOf, time } from '../terminal/arguments.ts'
import { withRuntime } from '../dependencies.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { intervene } from '../intervene.ts'
import { whileProjecting } from '../projecting.ts'
import { signed, type Signed } from '../audit/signed.ts'

interface Reversing extends Signed {
  readonly effectiveAt?: Date
}

export function addReversal(ledger: Command): void {
  signed(commandOf(ledger, 'reverse', 'correct an entry by its mirror image, once'))
    .argument('<entry>', 'id of the entry, or of its balance transaction', idOf('balance_transaction'))
    .option('--effective-at <time>', 'day or time from which it counts; now when left out', time)
    .action((id: string, options: Reversing) => withRuntime((runtime) => reverse(runtime, id, options)))
}

async function reverse(runtime: Runtime, id: string, options: Reversing): Promise<void> {
  const byEntry = { column: 'entry', operator: '=', value: id } as const
  const entry = await whileProjecting(runtime, () => findEntry(runtime.dependencies, [byEntry]))
  if (!entry) throw new CommandFailedError(`There is no entry ${id} that was posted at once.`)
  const { data, metadata } = entry
  if (data.template === 'reversal' || data.template === 'payment.available') {
    throw new CommandFailedError(`An entry ${data.template} is final: correct it by another one.`)
  }
  const { merchant, livemode } = metadata
  const { amounts, currency } = data
  const effectiveAt = options.effectiveAt?.toISOString()
  const details = { description: options.reason, ...(effectiveAt !== undefined && { effectiveAt }) }
  const command = { type: 'ReverseEntry', data: { entry: data, ...details } } as const
  const act = {
    action: 'ledger reverse',
    id,
    subject: publicId(idPrefixes['balance_transaction']!, id),
    owner: { merchant, livemode },
    money: { amount: amounts.amount, currency },
    ...(effectiveAt !== undefined && { occasion: effectiveAt }),
    orders: [to(book, bookId(merchant, livemode, currency), command)],
  }
  await intervene(runtime, act, options)
}
