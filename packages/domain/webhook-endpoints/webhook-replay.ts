import { begun, existing } from '../../contract/existing.ts'
import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Type } from '../../contract/vocabulary.ts'
import type { Decider, Stamp } from '../../kernel/decider.ts'
import { sealedFor, stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

const Count = Type.Integer({ minimum: 0 })

export const webhookReplayEvents = {
  WebhookReplayRequested: sealedFor(
    (_, id) => `webhook_replay/${id}`,
    stored(
      2,
      record({
        event: nullable(Type.String()),
        endpoint: nullable(Type.String()),
        reason: personal(nullable(Type.String())),
        deliveries: Count,
      }),
      { 1: withoutStamp },
    ),
  ),
  WebhookReplayCompleted: stored(2, record({ deliveries: Count, succeeded: Count, failed: Count }), {
    1: withoutStamp,
  }),
}

export type WebhookReplayEvents = EventsOf<typeof webhookReplayEvents>

type Details = WebhookReplayEvents['WebhookReplayRequested'] & Stamp

export type WebhookReplay =
  | { readonly status: 'none' }
  | (Details & { readonly status: 'running' })
  | (Details & { readonly status: 'completed'; succeeded: number; failed: number; completedAt: string })

export type WebhookReplayCommands = {
  /**
   * `event` is a public id (`evt_…`), `endpoint` a UUID, `deliveries` how many there were to send at the time
   * of the request.
   */
  RequestReplay: { event: string | null; endpoint: string | null; reason: string | null; deliveries: number }
  CompleteReplay: { deliveries: number; succeeded: number; failed: number }
}

export const webhookReplay: Decider<WebhookReplay, WebhookReplayCommands, WebhookReplayEvents> = {
  category: 'webhook_replay',
  perOperation: true,
  time: 'real',
  events: webhookReplayEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RequestReplay(request, { status }) {
      if (status !== 'none') return []
      if (request.event === null && request.endpoint === null)
        refuse('replay_must_name_an_event_or_an_endpoint')
      return [{ type: 'WebhookReplayRequested', data: request }]
    },

    CompleteReplay(counts, state) {
      if (existing(state).status === 'completed') return []
      return [{ type: 'WebhookReplayCompleted', data: counts }]
    },
  },

  evolve: {
    WebhookReplayRequested: (_, details, { merchant, livemode, at }) => {
      return { ...details, merchant, livemode, at, status: 'running' }
    },
    WebhookReplayCompleted: (state, counts, { at }) => ({
      ...begun(state),
      ...counts,
      status: 'completed',
      completedAt: at,
    }),
  },
}
