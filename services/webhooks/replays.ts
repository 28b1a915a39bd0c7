import type { ReplayPlan, Replays } from '../../infra/postgres/webhooks/replays.ts'
import { isEnabledFor, missedBy } from '../../packages/domain/webhook-endpoints/replay-scope.ts'
import { webhookReplay, type WebhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import type { Executor } from '../../packages/kernel/execute.ts'
import type { PublicEvents } from '../../packages/kernel/message-ports.ts'
import type { Clock } from '../../packages/kernel/ports.ts'
import type { DocumentRow, ReadStore } from '../../packages/kernel/read-ports.ts'
import type { Directory } from './directory.ts'

export interface ReplayTools {
  readonly replays: Replays
  readonly publicEvents: PublicEvents
  readonly reads: ReadStore
  readonly executor: Pick<Executor, 'send'>
  readonly clock: Clock
}

type RunningReplay = DocumentRow & { readonly state: Exclude<WebhookReplay, { status: 'none' }> }

const replaysPerTurn = 100

/**
 * Plans the replays that were asked for and completes those whose deliveries were all tried. True while some
 * are running.
 */
export async function advanceReplays(tools: ReplayTools, directory: Directory): Promise<boolean> {
  const { rows } = await tools.reads.page<RunningReplay>({
    from: 'webhook_replays',
    where: [{ column: 'status', operator: '=', value: 'running' }],
    order: 'created',
    ascending: true,
    limit: replaysPerTurn,
  })
  for (const replay of rows) await advance(replay, tools, directory)
  return rows.length > 0
}

async function advance(replay: RunningReplay, tools: ReplayTools, directory: Directory): Promise<void> {
  const { id, merchant, livemode } = replay
  let progress = await tools.replays.progress(id)
  if (!progress) {
    await tools.replays.plan({
      replay: id,
      now: tools.clock(),
      what: await scope(replay, tools.publicEvents, directory),
    })
    progress = await tools.replays.progress(id)
  }
  if (!progress || progress.pending > 0) return
  const { deliveries, succeeded } = progress
  const data = { deliveries, succeeded, failed: deliveries - succeeded }
  const envelope = {
    merchant,
    livemode,
    actor: 'policy:webhook-deliveries',
    correlation: id,
    mustExist: true,
  }
  await tools.executor.send(webhookReplay, id, { type: 'CompleteReplay', data }, envelope)
}

/** What is to be sent again, as the endpoints are now. */
async function scope(
  replay: RunningReplay,
  publicEvents: PublicEvents,
  directory: Directory,
): Promise<ReplayPlan['what']> {
  const { merchant, livemode, created, state } = replay
  const { event, endpoint, at } = state
  const owner = { merchant, livemode }
  if (event !== null && endpoint !== null) return { event, endpoints: [endpoint] }
  const endpoints = await directory.at(owner, created)
  if (event !== null) {
    const type = (await publicEvents.find(event, owner))?.type
    const enabled = endpoints.filter((one) => type !== undefined && isEnabledFor(one.state, type))
    return { event, endpoints: enabled.map(({ id }) => id) }
  }
  const asked = endpoints.find(({ id }) => id === endpoint)
  if (!asked)
    throw new Error(`replay ${replay.id} is for endpoint ${endpoint}, which is not in the read model`)
  const missed = { endpoint: asked.id, merchant, livemode, ...missedBy(asked.state, new Date(at)) }
  return { missed: { ...missed, after: asked.created, through: created } }
}
