import {
  webhookEndpoint,
  type RegisteredWebhookEndpoint,
  type WebhookEndpoint,
} from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { webhookRoster, webhookRosterId } from '../../packages/domain/webhook-endpoints/webhook-roster.ts'
import { streamName, type Decider, type Payloads } from '../../packages/kernel/decider.ts'
import { foldStored } from '../../packages/kernel/history.ts'
import { ownedBy, ownerText, owns, type MerchantOwner } from '../../packages/kernel/owner.ts'
import { DamagedStreamError, type EventStore, type StoredEvent } from '../../packages/kernel/ports.ts'
import { equal, type DocumentRow, type ReadStore } from '../../packages/kernel/ports/reads.ts'
import { endpointChanges } from './endpoint-changes.ts'

export interface ListedEndpoint {
  readonly id: string
  /** Position of its registration in the log. */
  readonly created: number
  readonly state: WebhookEndpoint
  /**
   * Why its stream cannot be read to the end: `state` is older, and nobody knows whether it is enabled.
   * Missing where it can.
   */
  readonly fault?: unknown
}

export interface ReadableEndpoint extends ListedEndpoint {
  readonly state: RegisteredWebhookEndpoint
  readonly fault?: undefined
}

/** An event or a secret of one endpoint that this process cannot read. */
export class UnreadableEndpointError extends Error {
  override readonly name = 'UnreadableEndpointError'

  constructor(id: string, cause: unknown) {
    super(`webhook endpoint ${id} cannot be read`, { cause })
  }
}

interface Sources {
  readonly store: EventStore
  readonly reads: ReadStore
}

const pageSize = 100

/**
 * An owner's endpoints that receive deliveries, as they are now, however far the read model is behind, and
 * those that may: an unreadable one affects none of the others.
 */
export async function enabledEndpoints(
  sources: Sources,
  owner: MerchantOwner,
): Promise<readonly ListedEndpoint[]> {
  const { ids, position } = await readModelOf(sources, owner)
  for (const id of await changedBehind(sources, owner, position)) ids.add(id)
  // The read model moves on past streams that it has parked: some of them it knows nothing of.
  for (const id of await withSlots(sources, owner)) ids.add(id)
  const found = await Promise.all([...ids].map((id) => readListed(sources, owner, id)))
  return found.filter(isEnabled).sort((one, other) => one.created - other.created)
}

function isEnabled(found: ListedEndpoint | undefined): found is ListedEndpoint {
  if (!found) return false
  return found.fault !== undefined || found.state.status === 'active' || found.state.status === 'failing'
}

/** The store may have lost a part of one stream: that affects none of the others either. */
async function readListed(
  sources: Sources,
  owner: MerchantOwner,
  id: string,
): Promise<ListedEndpoint | undefined> {
  try {
    return await readFaulty(sources, owner, id)
  } catch (fault) {
    if (!(fault instanceof DamagedStreamError)) throw fault
    return { id, created: 0, state: webhookEndpoint.initial(), fault }
  }
}

export function isReadable(endpoint: ListedEndpoint): endpoint is ReadableEndpoint {
  return endpoint.fault === undefined && endpoint.state.status !== 'none'
}

/** One endpoint of this owner, enabled or not; rejects with UnreadableEndpointError. */
export async function readEndpoint(
  sources: Pick<Sources, 'store'>,
  owner: MerchantOwner,
  id: string,
): Promise<ReadableEndpoint | undefined> {
  const found = await readFaulty(sources, owner, id)
  if (found?.fault !== undefined) throw new UnreadableEndpointError(id, found.fault)
  return found && isReadable(found) ? found : undefined
}

/** Whether there is an endpoint of this owner with that id, readable or not. */
export async function ownsEndpoint(
  { store }: Pick<Sources, 'store'>,
  owner: MerchantOwner,
  id: string,
): Promise<boolean> {
  const [first] = await store.readStream(streamName(webhookEndpoint.category, id), 0, 1)
  return first !== undefined && owns(first.metadata, owner)
}

async function readFaulty(
  { store }: Pick<Sources, 'store'>,
  owner: MerchantOwner,
  id: string,
): Promise<ListedEndpoint | undefined> {
  const events = await store.readStream(streamName(webhookEndpoint.category, id), 0)
  const [first] = events
  if (!first || !owns(first.metadata, owner)) return undefined
  return { id, created: first.position, ...foldReadable(webhookEndpoint, events) }
}

/** Ids of endpoints that had a slot when it could last be read. */
async function withSlots({ store }: Sources, owner: MerchantOwner): Promise<readonly string[]> {
  const stream = streamName(webhookRoster.category, webhookRosterId(owner))
  const events = await store.readStream(stream, 0).catch(noneOfDamaged)
  const { state } = foldReadable(webhookRoster, events)
  return state.status === 'open' ? state.slots.map(({ endpoint }) => endpoint) : []
}

function noneOfDamaged(error: unknown): readonly StoredEvent[] {
  if (error instanceof DamagedStreamError) return []
  throw error
}

/** As far as the events can be read. */
function foldReadable<S, C extends Payloads, E extends Payloads>(
  decider: Decider<S, C, E>,
  events: readonly StoredEvent[],
): { state: S; fault?: unknown } {
  let state = decider.initial()
  for (const event of events) {
    try {
      state = foldStored(decider, [event], state) as S
    } catch (fault) {
      return { state, fault }
    }
  }
  return { state }
}

async function readModelOf({ reads }: Sources, owner: MerchantOwner) {
  const ids = new Set<string>()
  let position: number | undefined
  for (let after = 0; ;) {
    const page = await reads.page<DocumentRow>({
      from: 'webhook_endpoints',
      where: [...equal(ownedBy(owner)), { column: 'status', operator: 'in', value: ['active', 'failing'] }],
      bounds: [{ column: 'created', operator: '>', value: after }],
      order: 'created',
      ascending: true,
      limit: pageSize,
    })
    position ??= page.position
    for (const { id } of page.rows) ids.add(id)
    if (page.rows.length < pageSize) return { ids, position }
    after = page.rows.at(-1)!.created
  }
}

/** Ids of this owner's endpoints for which the log is ahead of the read model. */
async function changedBehind(
  { store }: Sources,
  owner: MerchantOwner,
  position: number,
): Promise<readonly string[]> {
  const own = ownerText(owner)
  const changes = await endpointChanges(store).after(position)
  return changes.filter(({ owner }) => owner === own).map(({ id }) => id)
}
