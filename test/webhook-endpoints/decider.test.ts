import t from 'tap'
import {
  webhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointEvents,
} from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import {
  webhookReplay,
  type WebhookReplayEvents,
} from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import { viewWebhookEndpoint, viewWebhookReplay } from '../../packages/domain/webhook-endpoints/resource.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { context, fold, scenarios, type Past } from '../support/scenarios.ts'

const { id } = context
const at = '2026-01-01T12:00:00.000Z'
const url = 'https://shop.example/hooks'

const registered: Message<WebhookEndpointEvents> = {
  type: 'WebhookEndpointRegistered',
  data: { url, enabledEvents: ['*'], sealedSecret: 'sealed 1', secretLast4: 'aaa1' },
}
const disabled: Message<WebhookEndpointEvents> = {
  type: 'WebhookEndpointDisabled',
  data: { reason: 'merchant', event: null },
}
const gone: Message<WebhookEndpointEvents> = {
  type: 'WebhookEndpointDisabled',
  data: { reason: 'gone', event: 'evt_1' },
}
const enabled: Message<WebhookEndpointEvents> = { type: 'WebhookEndpointEnabled', data: {} }
const markedFailing: Message<WebhookEndpointEvents> = {
  type: 'WebhookEndpointMarkedFailing',
  data: { event: 'evt_1' },
}
const recovered: Message<WebhookEndpointEvents> = { type: 'WebhookEndpointRecovered', data: {} }
const revised = (changes: { url?: string; enabledEvents?: string[] }): Message<WebhookEndpointEvents> => {
  return { type: 'WebhookEndpointRevised', data: { url, enabledEvents: ['*'], ...changes } }
}
const rotated = (secret: number, previousUntil: string, rotatedAt?: string): Past<WebhookEndpointEvents> => ({
  ...(rotatedAt && { at: rotatedAt }),
  type: 'WebhookEndpointSecretRotated',
  data: { sealedSecret: `sealed ${secret}`, secretLast4: `aaa${secret}`, previousUntil },
})

scenarios(webhookEndpoint, {
  'a registered endpoint is active': {
    when: {
      type: 'RegisterEndpoint',
      data: { url, enabledEvents: ['*'], sealedSecret: 'sealed 1', secretLast4: 'aaa1' },
    },
    then: [registered],
  },
  'an endpoint that gets what its mover may not see stays where it is': {
    given: [registered],
    when: { type: 'ReviseEndpoint', data: { url: `${url}/2`, hidden: { 'payout.paid': 'payouts.read' } } },
    then: 'credential_must_have_the_scope',
  },
  'an endpoint that gets less than that moves': {
    given: [registered, revised({ enabledEvents: ['refund.*'] })],
    when: { type: 'ReviseEndpoint', data: { url: `${url}/2`, hidden: { 'payout.paid': 'payouts.read' } } },
    then: [revised({ url: `${url}/2`, enabledEvents: ['refund.*'] })],
  },
  'an endpoint is turned on by those who may see all that it gets': {
    given: [registered, disabled],
    when: { type: 'ReviseEndpoint', data: { enabled: true, hidden: { 'payout.paid': 'payouts.read' } } },
    then: 'credential_must_have_the_scope',
  },
  'secrets that are sealed anew are the same secrets': {
    given: [registered, rotated(2, '2026-01-02T12:00:00.000Z')],
    when: { type: 'ResealSecrets', data: { resealed: { 'sealed 1': 'anew 1', 'sealed 2': 'anew 2' } } },
    then: [
      {
        type: 'WebhookEndpointSecretsResealed',
        data: { sealedSecret: 'anew 2', previous: ['anew 1'] },
      },
    ],
  },
  'a secret that was replaced meanwhile is not sealed anew': {
    given: [registered],
    when: { type: 'ResealSecrets', data: { resealed: { 'sealed 0': 'anew 0' } } },
    then: [],
  },
  'the events of an endpoint can be changed alone': {
    given: [registered],
    when: { type: 'ReviseEndpoint', data: { enabledEvents: ['payout.*', 'refund.failed'] } },
    then: [revised({ enabledEvents: ['payout.*', 'refund.failed'] })],
  },
  'the URL of a failing endpoint can be changed alone': {
    given: [registered, markedFailing],
    when: { type: 'ReviseEndpoint', data: { url: 'https://shop.example/other' } },
    then: [revised({ url: 'https://shop.example/other' })],
  },
  'an endpoint that is not registered cannot be changed': {
    when: { type: 'ReviseEndpoint', data: { url } },
    then: 'resource_must_exist',
  },
  'an active endpoint can be disabled': {
    given: [registered],
    when: { type: 'ReviseEndpoint', data: { enabled: false } },
    then: [disabled],
  },
  'a failing endpoint can be disabled': {
    given: [registered, markedFailing],
    when: { type: 'ReviseEndpoint', data: { enabled: false } },
    then: [disabled],
  },
  'an endpoint that answered 410 is disabled': {
    given: [registered],
    when: { type: 'DisableGoneEndpoint', data: { url, event: 'evt_1' } },
    then: [gone],
  },
  'an endpoint whose address was changed meanwhile is not disabled by a 410 of the old address': {
    given: [registered, revised({ url: 'https://shop.example/other' })],
    when: { type: 'DisableGoneEndpoint', data: { url, event: 'evt_1' } },
    then: [],
  },
  'a disabled endpoint can be enabled': {
    given: [registered, disabled],
    when: { type: 'ReviseEndpoint', data: { enabled: true } },
    then: [enabled],
  },
  'an endpoint gets another URL and is turned on in one step': {
    given: [registered, disabled],
    when: { type: 'ReviseEndpoint', data: { url: 'https://shop.example/other', enabled: true } },
    then: [revised({ url: 'https://shop.example/other' }), enabled],
  },
  'enabling a failing endpoint does not call it recovered': {
    given: [registered, markedFailing],
    when: { type: 'ReviseEndpoint', data: { enabled: true } },
    then: [],
  },
  'the secret of a disabled endpoint can be rotated, and the old one goes on signing for a while': {
    given: [registered, disabled],
    when: {
      type: 'RotateSecret',
      data: { sealedSecret: 'sealed 2', secretLast4: 'aaa2', overlapSeconds: 86_400 },
    },
    then: [rotated(2, '2026-01-02T12:00:00.000Z')],
  },
  'an active endpoint whose retries are exhausted is failing': {
    given: [registered],
    when: { type: 'MarkFailing', data: { event: 'evt_1' } },
    then: [markedFailing],
  },
  'a disabled endpoint does not become failing': {
    given: [registered, disabled],
    when: { type: 'MarkFailing', data: { event: 'evt_1' } },
    then: [],
  },
  'a failing endpoint that accepts a delivery is active again': {
    given: [registered, markedFailing],
    when: { type: 'RecoverEndpoint', data: {} },
    then: [recovered],
  },
  'an endpoint that was disabled while it failed does not recover': {
    given: [registered, markedFailing, disabled],
    when: { type: 'RecoverEndpoint', data: {} },
    then: [],
  },
})

function stateAfter(
  ...history: Message<WebhookEndpointEvents>[]
): Exclude<WebhookEndpoint, { status: 'none' }> {
  const state = fold(webhookEndpoint, history)
  if (state.status === 'none') throw new Error('the history does not register an endpoint')
  return state
}

t.test('secrets that were rotated twice in a day all sign until their own time has run out', async (t) => {
  const state = stateAfter(
    registered,
    rotated(2, '2026-01-02T12:00:00.000Z'),
    rotated(3, '2026-01-02T18:00:00.000Z', '2026-01-01T18:00:00.000Z'),
  )
  t.equal(state.secret.sealed, 'sealed 3')
  t.strictSame(state.previous, [
    { sealed: 'sealed 2', until: '2026-01-02T18:00:00.000Z' },
    { sealed: 'sealed 1', until: '2026-01-02T12:00:00.000Z' },
  ])
})

t.test('a rotation without overlap revokes every older secret at once', async (t) => {
  t.strictSame(stateAfter(registered, rotated(2, '2026-01-02T12:00:00.000Z'), rotated(3, at)).previous, [])
})

t.test('at most four older secrets sign, however often an endpoint rotates', async (t) => {
  const rotations = [2, 3, 4, 5, 6, 7, 8].map((secret) => rotated(secret, '2026-01-02T12:00:00.000Z'))
  t.strictSame(
    stateAfter(registered, ...rotations).previous.map(({ sealed }) => sealed),
    ['sealed 7', 'sealed 6', 'sealed 5', 'sealed 4'],
  )
})

t.test('an endpoint is shown without its secret', async (t) => {
  t.strictSame(viewWebhookEndpoint(id, stateAfter(registered), context.now), {
    id: `we_${id.replaceAll('-', '')}`,
    object: 'webhook_endpoint',
    livemode: false,
    created: 1_767_268_800,
    url,
    enabled_events: ['*'],
    enabled: true,
    status: 'active',
    secret_last4: 'aaa1',
    has_previous_secret: false,
    rotation_recommended: false,
    secret_created_at: at,
    secret_rotated_at: null,
  })
  t.equal(viewWebhookEndpoint(id, { status: 'none' }, context.now), undefined)
})

t.test('an endpoint has a previous secret as long as the old one signs', async (t) => {
  const state = stateAfter(registered, rotated(2, '2026-01-02T12:00:00.000Z'))
  t.match(viewWebhookEndpoint(id, state, context.now), {
    has_previous_secret: true,
    secret_last4: 'aaa2',
    secret_rotated_at: at,
  })
  t.match(viewWebhookEndpoint(id, state, new Date('2026-01-02T12:00:00.000Z')), {
    has_previous_secret: false,
  })
})

t.test('a rotation is recommended when the secret is older than 365 days', async (t) => {
  const view = (now: string) =>
    viewWebhookEndpoint(id, stateAfter(registered), new Date(now))?.rotation_recommended
  t.equal(view('2027-01-01T12:00:00.000Z'), false)
  t.equal(view('2027-01-01T12:00:00.001Z'), true)
})

t.test('a disabled endpoint is shown as not enabled, a failing one as enabled', async (t) => {
  t.match(viewWebhookEndpoint(id, stateAfter(registered, disabled), context.now), {
    enabled: false,
    status: 'disabled',
  })
  t.match(viewWebhookEndpoint(id, stateAfter(registered, markedFailing), context.now), {
    enabled: true,
    status: 'failing',
  })
})

const requested: Message<WebhookReplayEvents> = {
  type: 'WebhookReplayRequested',
  data: { event: 'evt_1', endpoint: id, reason: 'lost', deliveries: 3 },
}
const completed: Message<WebhookReplayEvents> = {
  type: 'WebhookReplayCompleted',
  data: { deliveries: 2, succeeded: 1, failed: 1 },
}

scenarios(webhookReplay, {
  'an event is replayed to an endpoint': {
    when: { type: 'RequestReplay', data: { event: 'evt_1', endpoint: id, reason: 'lost', deliveries: 3 } },
    then: [requested],
  },
  'a replay that names neither an event nor an endpoint is refused': {
    when: { type: 'RequestReplay', data: { event: null, endpoint: null, reason: null, deliveries: 0 } },
    then: 'replay_must_name_an_event_or_an_endpoint',
  },
  'a replay whose deliveries were all tried is completed': {
    given: [requested],
    when: { type: 'CompleteReplay', data: { deliveries: 2, succeeded: 1, failed: 1 } },
    then: [completed],
  },
  'a replay that nobody asked for cannot be completed': {
    when: { type: 'CompleteReplay', data: { deliveries: 0, succeeded: 0, failed: 0 } },
    then: 'resource_must_exist',
  },
})

t.test('a replay shows what was asked for and, when it is completed, how it went', async (t) => {
  const running = {
    id: `wr_${id.replaceAll('-', '')}`,
    object: 'webhook_replay',
    livemode: false,
    created: 1_767_268_800,
    status: 'running',
    event_id: 'evt_1',
    webhook_endpoint_id: `we_${id.replaceAll('-', '')}`,
    reason: 'lost',
    deliveries: 3,
    succeeded: 0,
    failed: 0,
    completed_at: null,
  }
  t.strictSame(viewWebhookReplay(id, fold(webhookReplay, [requested])), running)
  t.strictSame(viewWebhookReplay(id, fold(webhookReplay, [requested, completed])), {
    ...running,
    status: 'completed',
    deliveries: 2,
    succeeded: 1,
    failed: 1,
    completed_at: at,
  })
})
