import { Refusal, type RefusalName } from '../../../../packages/contract/refusals.ts'
import type { Request, SendOptions } from '../../../../packages/contract/routes.ts'
import {
  webhookRoster,
  webhookRosterId,
  type WebhookRosterCommands,
} from '../../../../packages/domain/webhook-endpoints/webhook-roster.ts'
import type { Message } from '../../../../packages/kernel/decider.ts'
import { DamagedStreamError } from '../../../../packages/kernel/ports.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import {
  enabledEndpoints,
  readEndpoint,
  UnreadableEndpointError,
} from '../../../composition/webhook-endpoints.ts'

type Asker = Pick<Request, 'dependencies' | 'caller' | 'send'>

/** Inferred: a merchant that disabled an endpoint a day ago needs its slot for another one. */
const disabledCountsMs = 86_400_000
/** A request that took a slot long ago without registering its endpoint has failed in between. */
const registrationMs = 5 * 60_000

/**
 * Takes a slot for an endpoint, once however often it is requested. Slots of endpoints that no longer count
 * are freed when none is left; refuses when all are taken.
 */
export async function takeSlot(asker: Asker, endpoint: string): Promise<void> {
  const tried = new Set<RefusalName>()
  for (;;) {
    try {
      await send(asker, { type: 'TakeSlot', data: { endpoint } }, { mustExist: true })
      return
    } catch (error) {
      const reason = error instanceof Refusal ? error.reason : undefined
      const remedy = reason && remedies[reason]
      if (!remedy || tried.has(reason)) throw error
      tried.add(reason)
      await remedy(asker)
    }
  }
}

const remedies: Readonly<Partial<Record<RefusalName, (asker: Asker) => Promise<unknown>>>> = {
  resource_must_exist: openRoster,
  webhook_endpoints_must_not_be_too_many: freeUnused,
}

/** The very first endpoint, or the first one since rosters exist. */
async function openRoster(asker: Asker): Promise<void> {
  const endpoints = (await enabledEndpoints(asker.dependencies, asker.caller)).map(({ id }) => id)
  await send(asker, { type: 'OpenRoster', data: { endpoints } })
}

async function freeUnused(asker: Asker): Promise<void> {
  const { dependencies, caller } = asker
  const roster = await readState(dependencies.store, webhookRoster, webhookRosterId(caller))
  if (roster.status === 'none') return
  const now = dependencies.clock().getTime()
  const isUnused = await Promise.all(
    roster.slots.map(async ({ endpoint, takenAt }) => {
      const registered = await readEndpoint(dependencies, caller, endpoint).catch(unlessUnreadable)
      if (registered === 'unreadable') return false
      if (!registered) return now - Date.parse(takenAt) > registrationMs
      const { state } = registered
      return state.status === 'disabled' && now - Date.parse(state.disabledAt) >= disabledCountsMs
    }),
  )
  const endpoints = roster.slots.filter((_, index) => isUnused[index]).map(({ endpoint }) => endpoint)
  await send(asker, { type: 'FreeSlots', data: { endpoints } })
}

/** An endpoint that cannot be read may be in use, so it keeps its slot. */
function unlessUnreadable(error: unknown): 'unreadable' {
  if (error instanceof UnreadableEndpointError || error instanceof DamagedStreamError) return 'unreadable'
  throw error
}

function send(asker: Asker, command: Message<WebhookRosterCommands>, options?: SendOptions) {
  return asker.send(webhookRoster, webhookRosterId(asker.caller), command, options)
}
