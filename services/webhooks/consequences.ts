import type { Deliveries, PendingConsequence } from '../../infra/postgres/webhooks/deliveries.ts'
import { webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import type { Envelope } from '../../packages/kernel/envelope.ts'
import type { Executor } from '../../packages/kernel/execute.ts'
import type { Mailer } from '../../packages/kernel/ports.ts'

export interface ConsequenceTools {
  readonly deliveries: Deliveries
  readonly executor: Pick<Executor, 'send'>
  readonly mailer: Mailer
  /** Where a merchant gets mail; `undefined` when it has given no address. */
  readonly addressOf: (merchant: string) => Promise<string | undefined>
}

const batchMax = 100

/**
 * Tells endpoints what their deliveries came to. What fails stays written down and is done by the next call.
 */
export async function carryOutConsequences(worker: string, tools: ConsequenceTools): Promise<void> {
  for (;;) {
    const pending = await tools.deliveries.takeConsequences(worker, batchMax)
    if (pending.length === 0) return
    for (const one of withoutRepeats(pending)) await carryOut(one, tools)
    await tools.deliveries.settleConsequences(
      worker,
      pending.map(({ id }) => id),
    )
  }
}

/**
 * A thousand deliveries that recovered an endpoint recovered it once. Which of them exhausted it decides
 * about the mail.
 */
function withoutRepeats(pending: readonly PendingConsequence[]): readonly PendingConsequence[] {
  const keyOf = ({ id, endpoint, consequence: { kind } }: PendingConsequence) =>
    kind === 'exhausted' ? id : `${endpoint} ${kind}`
  return [...new Map(pending.map((one) => [keyOf(one), one])).values()]
}

async function carryOut(
  pending: PendingConsequence,
  { executor, mailer, addressOf }: ConsequenceTools,
): Promise<void> {
  const { endpoint, event, merchant, livemode, consequence } = pending
  const envelope: Envelope = {
    merchant,
    livemode,
    actor: 'policy:webhook-deliveries',
    correlation: event,
    mustExist: true,
  }
  if (consequence.kind === 'recovered') {
    await executor.send(webhookEndpoint, endpoint, { type: 'RecoverEndpoint', data: {} }, envelope)
    return
  }
  if (consequence.kind === 'gone') {
    const data = { goneUrl: consequence.url }
    await executor.send(webhookEndpoint, endpoint, { type: 'DisableEndpoint', data }, envelope)
    return
  }
  const { state } = await executor.send(
    webhookEndpoint,
    endpoint,
    { type: 'MarkFailing', data: { event } },
    envelope,
  )
  // Whoever comes second finds the endpoint failing because of another event; after a crash it is still
  // because of this one.
  if (state.status !== 'failing' || state.event !== event) return
  const to = await addressOf(merchant)
  if (to)
    await mailer.send({
      to,
      subject: 'A webhook endpoint is failing',
      text: failingText(state.url, event, livemode),
    })
}

function failingText(url: string, event: string, livemode: boolean): string {
  return [
    `Your webhook endpoint ${url} (${livemode ? 'live' : 'sandbox'}) did not accept event ${event}`,
    'in six attempts over about 35 hours.',
    '',
    'It is marked as failing. Further events are still sent to it, and the first one that it accepts',
    'makes it active again.',
    'What it missed can be sent once more with POST /api/v1/webhook-replays.',
  ].join('\n')
}
