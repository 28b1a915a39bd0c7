import type { Request as HttpRequestIn, Response as HttpResponse } from 'express'
import type { Caller } from '../../../../packages/contract/access/callers.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../../packages/contract/routes.ts'
import type { Passwords } from '../../../../packages/kernel/ports/credentials.ts'
import { requirePermission, requireScope } from './authenticate.ts'
import type { ClientAddress } from '../client-address.ts'
import { callerOf, type Authenticator } from './credentials.ts'
import { bodyOf, checkAddress, isRead } from '../input/input.ts'
import type { RateLimits } from '../rate-limit.ts'

export interface Admitting {
  readonly dependencies: { readonly passwords: Pick<Passwords, 'shareProcessors'> }
  readonly authenticators: readonly Authenticator[]
  readonly addressOf: ClientAddress
  readonly rateLimits: RateLimits
  readonly requireEnvironmentHeader: boolean
  /** Time in which a body must have arrived. */
  readonly bodyArrivalMs: number
}

interface IncomingRequest {
  readonly route: AnyRoute
  readonly request: HttpRequestIn
}

/** Longer than most bodies take, which often come a moment after their headers. */
const promptMs = 10

/** Who asks, and that they may, before the body is read. */
export async function admit(
  api: Admitting,
  { route, request }: IncomingRequest,
  response: HttpResponse,
): Promise<Caller> {
  const address = api.addressOf(request)
  const caller = await permitted(api, { route, request }, async (found) => {
    const isNobody = found.credential === 'nobody'
    await api.rateLimits.count(isNobody ? { address } : found, response)
    if (isNobody && route.isCostly) await api.rateLimits.count({ costly: address }, response)
  })
  // Whoever has shown who they are comes before those who are about to.
  if (caller.credential !== 'nobody') api.dependencies.passwords.shareProcessors()
  checkAddress(request.url)
  return caller
}

/** The body, and who asks then: whoever holds it back may have been locked out meanwhile. */
export async function received(api: Admitting, admitted: Caller, { route, request }: IncomingRequest) {
  const askedAt = performance.now()
  const body = await bodyOf(api, route, request)
  const isLate = performance.now() - askedAt > promptMs
  return { body, caller: isLate ? await permitted(api, { route, request }) : admitted }
}

/** Who asks, and that they may, as of this moment. */
async function permitted(
  api: Admitting,
  { route, request }: IncomingRequest,
  count?: (caller: Caller) => Promise<void>,
): Promise<Caller> {
  const { authorization, 'ikw-environment': environment } = request.headers as Headers
  const caller = await callerOf(api, route, { authorization, address: api.addressOf(request), environment })
  await count?.(caller)
  checkMerchant(route, caller, isRead(request))
  if (caller.credential !== 'nobody') checkEnvironment(api, { route, caller, header: environment })
  if (route.scope !== 'public' && route.scope !== 'own') requireScope(caller, route.scope)
  requirePermission(caller, route.permission)
  return caller
}

/** What is the user's own is neither the merchant's to suspend nor bound to working for it. */
function checkMerchant(route: AnyRoute, caller: Caller, isReading: boolean): void {
  if (route.owner === 'user') return
  if (caller.isSuspended && !isReading) refuse('merchant_must_not_be_suspended')
  if (caller.credential === 'user' && caller.role === null && !route.isForNonMembers)
    refuse('user_must_be_a_member')
}

interface Headers {
  readonly authorization?: string
  readonly 'ikw-environment'?: string
}

interface EnvironmentCheck {
  readonly route: AnyRoute
  readonly caller: Caller
  readonly header: string | undefined
}

function checkEnvironment(
  { requireEnvironmentHeader }: Admitting,
  { route, caller, header }: EnvironmentCheck,
): void {
  const own = caller.livemode ? 'live' : 'sandbox'
  if (header === undefined) {
    if (route.environment === 'required' && requireEnvironmentHeader)
      refuse('environment_header_must_be_given')
    return
  }
  const asked = header.toLowerCase()
  if (asked !== 'live' && asked !== 'sandbox') {
    const message = `Ikw-Environment is "${header}", but must be sandbox or live`
    refuseField('request_must_be_valid', 'header:Ikw-Environment', message)
  }
  if (asked !== own) {
    refuse('environment_must_be_the_credentials', {
      detail: `Ikw-Environment is "${header}", but the credential belongs to ${own}`,
    })
  }
}
