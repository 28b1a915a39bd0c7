import { deciders } from '../../../packages/domain/index.ts'
import { categoryOf } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import type { EventStore, Log, StoredEvent, Subscription } from '../../../packages/kernel/ports.ts'
import { securityEventAbout } from '../../../projections/security-events.ts'

const batchSize = 1_000
const everyMs = 250

const followed = ['user', 'user_session', 'challenge', 'sign_in', 'api_key', 'merchant']
const byCategory = new Map(deciders.map((decider) => [decider.category, decider]))

/** One line for each security event from now on, with ids and without addresses, names and secrets. */
export async function followSecurity(store: EventStore, log: Log): Promise<Subscription> {
  return store.subscribe({
    after: await store.head(),
    batchSize,
    everyMs,
    categories: followed,
    onError: (error) => log.warn({ error }, 'security events are told later'),
    handle: async (events) => {
      for (const event of events) tell(event, log)
    },
  })
}

/** What cannot be read is parked by those whom it concerns; the others are told all the same. */
function tell(stored: StoredEvent, log: Log): void {
  const { stream, revision, type } = stored
  try {
    const event = recordedEvent(byCategory.get(categoryOf(stream))!, stored)
    const isTry = type === 'SignInTried' || type === 'SignInRefused'
    const user = isTry ? (event.data as { user: string | null }).user : securityEventAbout(event)
    if (user === undefined) return
    const { actor, request } = event.metadata
    log.info({ user, actor, request, event: event.eventId }, type)
  } catch (error) {
    log.error({ stream, revision, type, error }, 'not told')
  }
}
