import { setTimeout as pause } from 'node:timers/promises'
import type { EventStore, Log, StoredEvent } from '../../../packages/kernel/ports.ts'
import type { ParkedEvents, ParkedPlace } from './parked.ts'

export interface Retry {
  readonly parked: Pick<ParkedEvents, 'retryRequests' | 'eventsOf' | 'release'>
  readonly retry: (target: string, event: ParkedPlace) => Promise<void>
}

/** Throws when it is gone, so that it stays parked: nobody can do what was to follow from it. */
export async function parkedEvent(
  store: Pick<EventStore, 'readStream'>,
  { stream, revision, eventId }: ParkedPlace,
): Promise<StoredEvent> {
  const [event] = await store.readStream(stream, revision, 1)
  // A stream that has lost it shows the one after it, one that was written anew another one in its place.
  if (event?.revision !== revision || event.id !== eventId)
    throw new Error(`event ${revision} of ${stream} is gone`)
  return event
}

const pollEveryMs = 500

/** Retries parked work on request, until the signal aborts. */
export async function pollRetryRequests(
  retries: readonly Retry[],
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for (const retry of retries) await answerRequests(retry, log)
    } catch (error) {
      log.warn({ error }, 'parked work stays parked')
    }
    await pause(pollEveryMs, undefined, { signal }).catch(() => undefined)
  }
}

/** An operator that answers nobody takes its time to say so for every target. */
const targetsAtOnce = 64

/** Requests are taken once: a target that fails again must not use up those of the others. */
export async function answerRequests(retry: Retry, log: Log): Promise<void> {
  const targets = (await retry.parked.retryRequests()).values()
  const inTurn = turnsByEvent()
  const lanes = Array.from({ length: targetsAtOnce }, async () => {
    for (const target of targets)
      await retryTarget(retry, target, inTurn).catch((error: unknown) =>
        log.warn({ target, error }, 'stays parked'),
      )
  })
  await Promise.all(lanes)
}

/** Oldest first, and what is parked behind it meanwhile. */
async function retryTarget({ parked, retry }: Retry, target: string, inTurn: InTurn): Promise<void> {
  for (;;) {
    const events = await parked.eventsOf(target)
    if (events.length === 0) return
    for (const event of events) {
      await inTurn(event, async () => {
        await retry(target, event)
        await parked.release(target, event)
      })
    }
  }
}

type InTurn = (event: ParkedPlace, work: () => Promise<void>) => Promise<void>

/**
 * An event that is parked for two targets is retried for one after the other: each leaves to the other what
 * is parked there, which must not be released in between.
 */
function turnsByEvent(): InTurn {
  const last = new Map<string, Promise<void>>()
  return async ({ stream, revision }, work) => {
    const key = `${stream} ${revision}`
    const turn = (last.get(key) ?? Promise.resolve()).catch(() => undefined).then(work)
    last.set(key, turn)
    try {
      await turn
    } finally {
      if (last.get(key) === turn) last.delete(key)
    }
  }
}
