import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Timestamp, Type } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

const Count = Type.Integer({ minimum: 0 })

export const webhookReplayEvents = {
  WebhookReplayRequested: stored(
    1,
    record({
      merchant: Type.String(),
      livemode: Type.Boolean(),
      event: nullable(Type.String()),
      endpoint: nullable(Type.String()),
      reason: nullable(Type.String()),
      deliveries: Count,
      at: Timestamp,
    }),
  ),
  WebhookReplayCompleted: stored(
    1,
    record({ deliveries: Count, succeeded: Count, failed: Count, at: Timestamp }),
  ),
}

export type WebhookReplayEvents = EventsOf<typeof webhookReplayEvents>

type Details = WebhookReplayEvents['WebhookReplayRequested']

export type WebhookReplay =
  | { readonly status: 'none' }
  | (Details & { readonly status: 'running' })
  | (Details & { readonly status: 'completed'; succeeded: number; failed: number; completedAt: string })

export type WebhookReplayCommands = {
  /**
   * `event` is a public id (`evt_…`), `endpoint` a UUID, `deliveries` how many there were to send when it was
   * asked for.
   */
  RequestReplay: { event: string | null; endpoint: string | null; reason: string | null; deliveries: number }
  CompleteReplay: { deliveries: number; succeeded: number; failed: number }
}

export const webhookReplay: Decider<WebhookReplay, WebhookReplayCommands, WebhookReplayEvents> = {
  category: 'webhook_replay',
  events: webhookReplayEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RequestReplay(request, { status }, { merchant, livemode, now }) {
      if (status !== 'none') return []
      if (request.event === null && request.endpoint === null)
        refuse('replay_must_name_an_event_or_an_endpoint')
      return [
        { type: 'WebhookReplayRequested', data: { merchant, livemode, ...request, at: now.toISOString() } },
      ]
    },

    CompleteReplay(counts, { status }, { now }) {
      if (status === 'completed') return []
      if (status === 'none') refuse('resource_must_exist')
      return [{ type: 'WebhookReplayCompleted', data: { ...counts, at: now.toISOString() } }]
    },
  },

  evolve: {
    WebhookReplayRequested: (_, details) => ({ ...details, status: 'running' }),
    WebhookReplayCompleted: (state, { deliveries, succeeded, failed, at }) => {
      if (state.status === 'none') throw new Error('the stream does not start with WebhookReplayRequested')
      return { ...state, status: 'completed', deliveries, succeeded, failed, completedAt: at }
    },
  },
}
