import { publicId } from '../../../packages/contract/identity.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { movementTypes, WalletView } from '../../../packages/domain/wallets/resource.ts'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'
import { equal } from '../../../packages/kernel/ports/reads.ts'
import { walletBalances, walletMovements } from '../../../projections/wallets.ts'

/** Wallets as the read models know them, which are waited for: the book alone decides what is spent. */

interface Wallet extends MerchantOwner {
  readonly customer: string
}

interface WalletIn extends Wallet {
  readonly currency: string
}

type Reading = Pick<Dependencies, 'reads' | 'store' | 'clock'>

interface Sum {
  readonly currency: string
  readonly amount: number
}

interface Movement {
  readonly id: string
  readonly currency: string
  readonly direction: 'credit' | 'debit'
  readonly type: MovementType
  readonly amount: number
  readonly reference_object: string
  readonly reference: string
  readonly payment: string | null
  readonly available_at: string | null
  readonly occurred_at: string
}

type MovementType = WalletView['transactions'][number]['type']

const waitMs = 1_000
const shownMax = 50
/** Card payments of two days into one wallet. */
const youngMax = 1_000

/** One for each currency in which there was something. */
export async function walletSums(dependencies: Reading, of: Wallet): Promise<readonly Sum[]> {
  await caughtUp(dependencies, walletBalances.name)
  return sumsOf(dependencies, of)
}

export async function walletSum(dependencies: Reading, of: WalletIn): Promise<number> {
  const [sum] = await walletSums(dependencies, of)
  return sum?.amount ?? 0
}

/** As far as the read model is: lists are eventual. */
export async function listedSum(dependencies: Reading, of: WalletIn): Promise<number> {
  const [sum] = await sumsOf(dependencies, of)
  return sum?.amount ?? 0
}

/** What may be spent now: card money only after two days. */
export async function spendableOf(dependencies: Reading, of: WalletIn): Promise<number> {
  const [sum] = await walletSums(dependencies, of)
  if (!sum || sum.amount <= 0) return 0
  await caughtUp(dependencies, walletMovements.name)
  const now = dependencies.clock(of).toISOString()
  const isYoung = { column: 'available_at', operator: '>', value: now } as const
  const young = await rowsOf(dependencies, of, [isYoung])
  let spendable = sum.amount
  for (const { payment } of young) {
    const ofPayment = { column: 'payment', operator: '=', value: payment! } as const
    const moved = await rowsOf(dependencies, of, [ofPayment])
    spendable -= Math.max(
      0,
      moved.reduce((total, row) => total + signed(row), 0),
    )
  }
  return Math.max(0, spendable)
}

function signed({ direction, amount }: Movement): number {
  return direction === 'credit' ? amount : -amount
}

export async function movementsOf(dependencies: Reading, of: Wallet): Promise<WalletView['transactions']> {
  await caughtUp(dependencies, walletMovements.name)
  const rows = await rowsOf(dependencies, of, [], shownMax)
  return rows.map((row) => ({
    id: row.id,
    direction: row.direction,
    type: row.type,
    amount: row.amount,
    currency: row.currency,
    reference: { object: row.reference_object, id: shownId(row.reference_object, row.reference) },
    occurred_at: row.occurred_at,
  }))
}

const prefixes: Readonly<Record<keyof typeof movementTypes, string>> = {
  payment: 'pay',
  wallet_application: 'wa',
  refund: 're',
}

function shownId(object: string, id: string): string {
  return object in prefixes ? publicId(prefixes[object as keyof typeof prefixes], id) : id
}

async function caughtUp({ reads, store }: Reading, name: string): Promise<void> {
  await reads.reached(await store.head(), waitMs, name)
}

async function sumsOf({ reads }: Reading, of: Wallet): Promise<readonly Sum[]> {
  const where = equal(named(of))
  const asked = { from: walletBalances.name, where, order: 'currency', ascending: true, limit: 100 }
  return (await reads.page<Sum>(asked)).rows
}

async function rowsOf(
  { reads }: Reading,
  of: Wallet,
  more: Parameters<typeof reads.page>[0]['where'],
  limit = youngMax,
): Promise<readonly Movement[]> {
  const where = [...equal(named(of)), ...more]
  return (await reads.page<Movement>({ from: walletMovements.name, where, order: 'position', limit })).rows
}

/** A caller has more fields than a wallet. */
function named({ merchant, livemode, customer, ...of }: Wallet & Partial<WalletIn>) {
  return { merchant, livemode, customer, ...(of.currency !== undefined && { currency: of.currency }) }
}
