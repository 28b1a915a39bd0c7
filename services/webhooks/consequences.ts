import type { PendingConsequence } from '../../infra/postgres/webhooks/consequences.ts'
import type { Deliveries } from '../../infra/postgres/webhooks/deliveries.ts'
import {
  webhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointCommands,
} from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import type { Executor } from '../../packages/kernel/execution/execute.ts'
import {
  MailDeferredError,
  MailRefusedError,
  type Clock,
  type Log,
  type Mail,
  type Mailer,
} from '../../packages/kernel/ports.ts'
import { disabledMail, failingMail } from './mails.ts'

export interface ConsequenceTools {
  readonly deliveries: Pick<Deliveries, 'consequences'>
  readonly executor: Pick<Executor, 'send'>
  readonly mailer: Mailer
  /** A merchant's mail address; `undefined` when it has given none. */
  readonly addressOf: (merchant: string) => Promise<string | undefined>
  readonly clock: Clock
  readonly log: Log
}

const batchMax = 100
const retryMs = { first: 5_000, most: 3_600_000 }
/** After two days the mail is given up: the endpoint shows its status anyway. */
const mailTriesMax = 57

/**
 * Tells endpoints the results of their deliveries, and merchants what they should know about them. Each is
 * settled on its own: a failure is retried later and delays no other.
 */
export async function carryOutConsequences(worker: string, tools: ConsequenceTools): Promise<void> {
  for (;;) {
    const pending = await tools.deliveries.consequences.take(worker, tools.clock(), batchMax)
    if (pending.length === 0) return
    const round = new Round(worker, tools)
    for (const group of withoutRepeats(pending)) await round.tellEndpoint(group)
    await round.sendMails()
  }
}

/** The same consequence of several deliveries. */
interface Group {
  readonly one: PendingConsequence
  readonly ids: readonly number[]
}

/**
 * A thousand deliveries that recovered an endpoint recovered it once. Which delivery exhausted or ended it
 * decides about the mail.
 */
function withoutRepeats(pending: readonly PendingConsequence[]): readonly Group[] {
  const groups = new Map<string, { one: PendingConsequence; ids: number[] }>()
  for (const one of pending) {
    const { id, endpoint, consequence } = one
    const key = consequence.kind === 'recovered' ? endpoint : String(id)
    const group = groups.get(key)
    if (group) group.ids.push(id)
    else groups.set(key, { one, ids: [id] })
  }
  return [...groups.values()]
}

class Round {
  readonly #worker: string
  readonly #tools: ConsequenceTools
  readonly #mails: { readonly group: Group; readonly mail: Mail }[] = []

  constructor(worker: string, tools: ConsequenceTools) {
    this.#worker = worker
    this.#tools = tools
  }

  async tellEndpoint(group: Group): Promise<void> {
    try {
      const mail = await this.#tell(group.one)
      if (mail) this.#mails.push({ group, mail })
      else await this.#settle(group)
    } catch (error) {
      await this.#postpone(group, error)
    }
  }

  /** What the server says of one mail concerns no other. Without the server, none of the others is tried. */
  async sendMails(): Promise<void> {
    let away: unknown
    for (const { group, mail } of this.#mails) {
      const failure = away ?? (await this.#send(mail))
      const isAboutMail = failure instanceof MailRefusedError || failure instanceof MailDeferredError
      if (!isAboutMail) away = failure
      const isOver = failure instanceof MailRefusedError || group.one.tries >= mailTriesMax
      if (failure !== undefined && !isOver) await this.#postpone(group, failure)
      else {
        if (failure !== undefined) this.#giveUp(group, failure)
        await this.#settle(group)
      }
    }
  }

  /** Returns what it failed with. */
  async #send(mail: Mail): Promise<unknown> {
    try {
      await this.#tools.mailer.send(mail)
      return undefined
    } catch (error) {
      return error
    }
  }

  /** Returns the mail to the merchant, if any. */
  async #tell({ endpoint, event, merchant, livemode, consequence }: PendingConsequence) {
    const { executor, addressOf } = this.#tools
    const { state } = await executor.send(webhookEndpoint, endpoint, commandOf(consequence, event), {
      merchant,
      livemode,
      actor: 'policy:webhook-deliveries',
      correlation: event,
      mustExist: true,
    })
    const mail = consequence.kind === 'recovered' ? undefined : mailAbout(state, event)
    const to = mail && (await addressOf(merchant))
    return mail && to !== undefined ? { ...mail, to } : undefined
  }

  #settle({ ids }: Group): Promise<void> {
    return this.#tools.deliveries.consequences.settle(this.#worker, ids)
  }

  #postpone({ one, ids }: Group, error: unknown): Promise<void> {
    const { deliveries, clock, log } = this.#tools
    const delayMs = Math.min(retryMs.first * 2 ** one.tries, retryMs.most)
    log.warn({ error, endpoint: one.endpoint, delayMs }, 'what a delivery came to is told later')
    const until = new Date(clock().getTime() + delayMs)
    return deliveries.consequences.postpone(this.#worker, ids, until)
  }

  #giveUp({ one }: Group, error: unknown): void {
    const { endpoint, merchant } = one
    this.#tools.log.error({ error, endpoint, merchant }, 'a mail about a webhook endpoint is given up')
  }
}

function commandOf(
  consequence: PendingConsequence['consequence'],
  event: string,
): Message<WebhookEndpointCommands> {
  switch (consequence.kind) {
    case 'recovered':
      return { type: 'RecoverEndpoint', data: {} }
    case 'gone':
      return { type: 'DisableGoneEndpoint', data: { url: consequence.url, event } }
    case 'exhausted':
      return { type: 'MarkFailing', data: { event } }
  }
}

/**
 * The mail names only the event that changed the endpoint: a second event finds it changed by another one,
 * and after a crash it is still this one.
 */
function mailAbout(state: WebhookEndpoint, event: string): Omit<Mail, 'to'> | undefined {
  if (state.status === 'failing' && state.event === event) return failingMail(state)
  if (state.status === 'disabled' && state.event === event) return disabledMail(state)
  return undefined
}
