import { randomUUID } from 'node:crypto'
import { sealedEvents } from '../../infra/event-store/sealed/store.ts'
import { SubjectKeys } from '../../infra/postgres/privacy/subject-keys.ts'
import { storedTypes } from '../../packages/domain/index.ts'
import type { NewEvent, StoredEvent } from '../../packages/kernel/ports.ts'
import { randomSalts } from '../../services/composition/ids.ts'
import { destination, type PayoutTemplate } from './load/template.ts'
import { seededId } from './load/identities.ts'
import type { Range, Seed } from './seed-options.ts'

const copiesPerPage = 1_000

/** Whether it says to whom the payout goes, sealed or in the clear. */
export function isPersonal({ data }: StoredEvent): boolean {
  return JSON.stringify(data).includes(destination.msisdn)
}

/** Number of the payout, step of the template, id, data and metadata of this many events. */
export type Columns = readonly [
  payouts: readonly number[],
  steps: readonly number[],
  ids: readonly string[],
  data: readonly string[],
  metadata: readonly string[],
]

/**
 * A sealed value opens only in its own event, so each copy is sealed anew. What is in the clear in the
 * template stays so.
 */
export async function* personalCopies(
  { pool, vault, merchants, toEachNumber = false }: Seed,
  template: PayoutTemplate,
  { from, to }: Omit<Range, 'head'>,
): AsyncGenerator<Columns, void> {
  const options = { types: storedTypes, keys: new SubjectKeys({ pool, vault }) }
  const newSalt = randomSalts()
  const numbered = template.events.map((event, index) => ({ event, step: index + 1 }))

  const copyOf = async (event: StoredEvent, payout: number): Promise<NewEvent> => {
    const merchant = merchants[payout % merchants.length]!
    const text = JSON.stringify(event)
      .replaceAll(template.id, seededId(payout))
      .replaceAll(template.merchant, merchant.id)
      .replaceAll(destination.msisdn, toEachNumber ? numberOf(payout) : destination.msisdn)
    const { stream, type, data, metadata } = JSON.parse(text) as StoredEvent
    const copy = { id: randomUUID(), type, data, metadata: { ...metadata, salt: newSalt() } }
    if (!event.metadata.sealed) return copy
    const [sealed] = await sealedEvents(options, stream, [copy])
    return sealed!
  }

  for (let first = from; first < to; first += copiesPerPage) {
    const payouts = Array.from({ length: Math.min(copiesPerPage, to - first) }, (_, index) => first + index)
    for (const { event, step } of numbered.filter((one) => isPersonal(one.event))) {
      const copies = await Promise.all(payouts.map((payout) => copyOf(event, payout)))
      yield [
        payouts,
        payouts.map(() => step),
        copies.map(({ id }) => id),
        copies.map(({ data }) => JSON.stringify(data)),
        copies.map(({ metadata }) => JSON.stringify(metadata)),
      ]
    }
  }
}

/** Of as many digits as the one that it stands for. */
function numberOf(payout: number): string {
  return `+22177${String(payout % 10_000_000).padStart(7, '0')}`
}
