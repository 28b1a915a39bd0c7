import { randomBytes } from 'node:crypto'
import { refuseField } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { patternsOf } from '../../../../packages/contract/webhooks/webhook-types.ts'
import { webhookTypes } from '../../../../packages/domain/index.ts'
import type {
  SecretAndNow,
  SecretRotation,
  WebhookEndpointRequest,
  WebhookEndpointRevision,
} from '../../../../packages/domain/webhook-endpoints/resource.ts'
import {
  requireVisible,
  secretContext,
  type WebhookEndpoint,
  type WebhookEndpointCommands,
} from '../../../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { readEndpoint } from '../../../composition/webhook-endpoints.ts'
import { hiddenFrom, requireSight } from './event-sight.ts'
import { takeSlot } from './webhook-slots.ts'

type Commands = WebhookEndpointCommands
type RequestPart = Pick<Request, 'dependencies' | 'caller'>

/** Inferred: the old secret keeps signing for a day after a rotation. */
const overlapSeconds = 86_400

/** Spec, Webhook endpoints: the service does not contact the URL. */
export async function prepareRegistration(
  request: Request<Static<typeof WebhookEndpointRequest>>,
): Promise<Commands['RegisterEndpoint']> {
  const { body, dependencies, id } = request
  checkUrl(request, body.url)
  const enabledEvents = body.enabled_events ?? ['*']
  checkTypes(enabledEvents)
  requireSight(request.caller, enabledEvents)
  await takeSlot(request, id)
  return { url: body.url, enabledEvents, ...newSecret(dependencies, id) }
}

/** Spec, Webhook endpoints: url, enabled_events and enabled, all optional. */
export async function prepareRevision(
  request: Request<Static<typeof WebhookEndpointRevision>>,
): Promise<Commands['ReviseEndpoint']> {
  const { url, enabled_events: enabledEvents, enabled } = request.body
  const id = request.params['id']!
  if (url !== undefined) checkUrl(request, url)
  checkTypes(enabledEvents)
  // To move an endpoint, or to turn it on, takes the right to see everything it will get.
  const sendsMore = url !== undefined || enabledEvents !== undefined || enabled === true
  const hidden = sendsMore ? hiddenFrom(request.caller) : {}
  if (enabled) {
    // The command checks this again; whoever is refused here has taken no slot.
    const current = await readEndpoint(request.dependencies, request.caller, id)
    requireVisible(enabledEvents ?? current?.state.enabledEvents ?? [], hidden)
    await takeSlot(request, id)
  }
  return { url, enabledEvents, enabled, hidden }
}

/** Spec, Webhook endpoints: the new secret signs future deliveries immediately. */
export async function prepareRotation({
  dependencies,
  params,
  body,
}: Request<Static<typeof SecretRotation>>): Promise<Commands['RotateSecret']> {
  return { ...newSecret(dependencies, params['id']!), overlapSeconds: body.expires_in ?? overlapSeconds }
}

/** Whether an older secret still signs depends on when somebody looks. */
export function now({ dependencies }: RequestPart): Date {
  return dependencies.clock()
}

/** Read back, because a first try with the same key may have stored another secret. */
export function secretAndNow(request: RequestPart, id: string, state: WebhookEndpoint): SecretAndNow {
  if (state.status === 'none') throw new Error(`endpoint ${id} was registered and is not there`)
  const secret = request.dependencies.vault.open(state.secret.sealed, secretContext(id))
  return { secret, now: now(request) }
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
