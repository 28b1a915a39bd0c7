import { isGranted } from '../../../packages/contract/access/callers.ts'
import { anyIdentity, publicId } from '../../../packages/contract/identity.ts'
import { Refusal, refuse } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { literals, nullable, record, Type, type Static } from '../../../packages/contract/vocabulary.ts'
import { idPrefixes, publicSources } from '../../../packages/domain/index.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { owns } from '../../../packages/kernel/owner.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import { equal } from '../../../packages/kernel/ports/reads.ts'
import { balanceTransactions } from '../../../projections/balances.ts'

export const ReceiptResource = record({
  object: literals('receipt'),
  event: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: 'What was signed: the event as it is stored, with personal fields sealed',
  }),
  salt: Type.String({ description: 'Goes before the event when it is hashed; base64url' }),
  personal: nullable(
    record({
      content: Type.String({ description: 'JSON of what is sealed in the event' }),
      blind: Type.String({ description: 'Goes before the content when it is hashed; base64url' }),
    }),
  ),
  index: Type.Integer({ minimum: 0, description: 'Of the event in the log' }),
  proof: Type.Array(Type.String(), { description: 'From its leaf to the root of the tree; base64' }),
  checkpoint: Type.String({ description: 'The signed root, as a note' }),
})

/** The event that an id stands for, with the proof that the log has signed it. */
export async function showReceipt(request: Request): Promise<Static<typeof ReceiptResource>> {
  const event =
    (await eventOf(request)) ??
    refuse('resource_must_exist', { detail: `No ${request.params['id']!.slice(0, 64)}` })
  const receipt = await request.dependencies.logProofs.receiptOf(event)
  if (!receipt) throw new Refusal('event_must_be_signed', { retryAfterSeconds: 1 })
  return { object: 'receipt', ...receipt, proof: [...receipt.proof] }
}

/** What merchants see is a stream each; whoever may read it may have its receipt. */
const resources = publicSources.map(({ decider: { category }, scope }) => ({ category, scope }))

async function eventOf(request: Request): Promise<StoredEvent | undefined> {
  const text = request.params['id']!
  const id = anyIdentity(text)
  if (id === undefined) return undefined
  const prefix = /^[a-z]+(?=_)/i.exec(text)?.[0].toLowerCase()
  if (prefix === 'txn' && isGranted(request.caller, 'balance.read')) return movement(request, id)
  if (prefix === 'evt' || prefix === undefined) {
    const told = await toldEvent(request, id)
    if (told || prefix) return told
  }
  return lastEvent(request, id, prefix)
}

/** Of the resource with this id; a payment is its intent. */
async function lastEvent({ caller, owner, dependencies }: Request, id: string, prefix: string | undefined) {
  const named = prefix === idPrefixes['payment'] ? idPrefixes['payment_intent'] : prefix
  const asked = resources.filter(({ category, scope }) => {
    return isGranted(caller, scope) && (named === undefined || idPrefixes[category] === named)
  })
  const streams = asked.map(({ category }) => dependencies.store.readStream(streamName(category, id), 0))
  const [events] = (await Promise.all(streams)).filter((found) => found.length > 0)
  return events && owns(events[0]!.metadata, owner) ? events.at(-1) : undefined
}

async function toldEvent({ caller, dependencies }: Request, id: string): Promise<StoredEvent | undefined> {
  const told = await dependencies.publicEvents.find(publicId('evt', id), caller)
  const source = told && publicSources.find(({ types }) => told.type in types)
  if (!source || !isGranted(caller, source.scope)) return undefined
  return dependencies.store.readAt(told.position)
}

/** The entry of the book behind a movement of the balance. */
async function movement({ caller, dependencies }: Request, id: string): Promise<StoredEvent | undefined> {
  const { merchant, livemode } = caller
  const { rows } = await dependencies.reads.page<{ position: number }>({
    from: balanceTransactions.name,
    where: equal({ id, merchant, livemode }),
    order: 'id',
    limit: 1,
  })
  return rows[0] && dependencies.store.readAt(rows[0].position)
}
