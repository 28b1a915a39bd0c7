import { randomBytes } from 'node:crypto'
import { publicId } from '../../../packages/contract/identity.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../packages/contract/routes.ts'
import { patternsOf } from '../../../packages/contract/webhook-types.ts'
import { webhookTypes } from '../../../packages/domain/index.ts'
import { unixSeconds, type Static } from '../../../packages/contract/vocabulary.ts'
import {
  viewWebhookEndpoint,
  type NewWebhookEndpointResource,
  type SecretRotation,
  type WebhookEndpointRequest,
  type WebhookEndpointResource,
  type WebhookEndpointRevision,
  type WebhookEndpointSecretResource,
} from '../../../packages/domain/webhook-endpoints/resource.ts'
import {
  secretContext,
  webhookEndpoint,
  type WebhookEndpointCommands,
} from '../../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import type { Message } from '../../../packages/kernel/decider.ts'
import { hiddenFrom, requireSight } from './event-sight.ts'
import { takeSlot } from './webhook-slots.ts'

type Shown = Static<typeof WebhookEndpointResource>

/** Inferred: the old secret keeps signing for a day after a rotation. */
const overlapSeconds = 86_400

/** Spec, Webhook endpoints: the service does not contact the URL. */
export async function registerEndpoint(
  request: Request<Static<typeof WebhookEndpointRequest>>,
): Promise<Static<typeof NewWebhookEndpointResource>> {
  const { body, dependencies, id } = request
  checkUrl(request, body.url)
  const enabledEvents = body.enabled_events ?? ['*']
  checkTypes(enabledEvents)
  requireSight(request.caller, enabledEvents)
  await takeSlot(request, id)
  const data = { url: body.url, enabledEvents, ...newSecret(dependencies, id) }
  const { state } = await request.send(
    webhookEndpoint,
    id,
    { type: 'RegisterEndpoint', data },
    { isNew: true },
  )
  const shown = viewWebhookEndpoint(id, state, dependencies.clock())
  if (!shown || state.status === 'none') throw new Error(`endpoint ${id} was registered and is not there`)
  // Read back, because an earlier try with the same key may have registered it with another secret.
  return { ...shown, secret: dependencies.vault.open(state.secret.sealed, secretContext(id)) }
}

/** Spec, Webhook endpoints: url, enabled_events and enabled, all optional. */
export async function reviseEndpoint(
  request: Request<Static<typeof WebhookEndpointRevision>>,
): Promise<Shown> {
  const { dependencies, params } = request
  const { url, enabled_events: enabledEvents, enabled } = request.body
  const id = params['id'] ?? refuse('resource_must_exist')
  if (url !== undefined) checkUrl(request, url)
  checkTypes(enabledEvents)
  // To move an endpoint, or to turn it on, takes the right to see everything it will get.
  const sendsMore = url !== undefined || enabledEvents !== undefined || enabled === true
  const hidden = sendsMore ? hiddenFrom(request.caller) : {}
  const send = (command: Message<WebhookEndpointCommands>) =>
    request.send(webhookEndpoint, id, command, { mustExist: true })
  let { state } = await send({ type: 'ReviseEndpoint', data: { url, enabledEvents, hidden } })
  if (enabled === true) {
    await takeSlot(request, id)
    state = (await send({ type: 'EnableEndpoint', data: { hidden } })).state
  } else if (enabled === false) state = (await send({ type: 'DisableEndpoint', data: {} })).state
  return viewWebhookEndpoint(id, state, dependencies.clock()) ?? refuse('resource_must_exist')
}

/** Spec, Webhook endpoints: the new secret signs future deliveries immediately. */
export async function rotateSecret(
  request: Request<Static<typeof SecretRotation>>,
): Promise<Static<typeof WebhookEndpointSecretResource>> {
  const { dependencies, params, body } = request
  const id = params['id'] ?? refuse('resource_must_exist')
  const data = { ...newSecret(dependencies, id), overlapSeconds: body.expires_in ?? overlapSeconds }
  const { state } = await request.send(
    webhookEndpoint,
    id,
    { type: 'RotateSecret', data },
    { mustExist: true, isWhole: true },
  )
  if (state.status === 'none' || state.rotatedAt === null)
    throw new Error(`endpoint ${id} was rotated and is not`)
  return {
    id: publicId('we', id),
    object: 'webhook_endpoint_secret',
    livemode: state.livemode,
    created: unixSeconds(state.registeredAt),
    secret: dependencies.vault.open(state.secret.sealed, secretContext(id)),
    secret_last4: state.secret.last4,
    secret_rotated_at: state.rotatedAt,
  }
}

/** Inferred: `whsec_` and base64 of 32 random bytes. */
function newSecret(
  { vault }: Dependencies,
  id: string,
): { readonly sealedSecret: string; readonly secretLast4: string } {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  return { sealedSecret: vault.seal(secret, secretContext(id)), secretLast4: secret.slice(-4) }
}

function checkUrl({ dependencies, caller }: Pick<Request, 'dependencies' | 'caller'>, url: string): void {
  const fault = dependencies.urlFault(url, caller.livemode)
  if (fault !== undefined) refuseField('webhook_url_must_be_acceptable', '/url', `URL ${fault}`)
}

const selections: readonly string[] = patternsOf(Object.keys(webhookTypes))

function checkTypes(enabledEvents: readonly string[] = []): void {
  const unknown = enabledEvents.findIndex((selection) => !selections.includes(selection))
  if (unknown < 0) return
  const message = `${JSON.stringify(enabledEvents[unknown])} is not an event type, a prefix.* or *`
  refuseField('webhook_event_type_must_be_known', `/enabled_events/${unknown}`, message)
}
