import { marketOf } from '../../../packages/contract/catalog.ts'
import { currencyExponent } from '../../../packages/contract/currencies.ts'
import { identity } from '../../../packages/contract/identity.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import { merchant as merchantDecider } from '../../../packages/domain/merchants/merchant.ts'
import { readDestination, refuseDestination } from '../../../packages/domain/payouts/destination-request.ts'
import {
  admitSaved,
  destinationId,
  payoutDestination,
  type PayoutDestination,
} from '../../../packages/domain/payouts/destination.ts'
import {
  viewPayoutDestination,
  viewPayoutSettings,
  type PayoutDestinationRequest,
  type PayoutDestinationResource,
  type PayoutSettingsResource,
  type PayoutSettingsRevision,
} from '../../../packages/domain/payouts/resource.ts'
import {
  payoutSettings,
  payoutSettingsId,
  type PayoutSettingsCommands,
} from '../../../packages/domain/payouts/settings.ts'
import { readCurrent, readState } from '../../../packages/kernel/history.ts'
import { ownedBy, owns } from '../../../packages/kernel/owner.ts'
import { equal } from '../../../packages/kernel/read-ports.ts'
import { payoutDestinations } from '../../../projections/payouts.ts'

type Settings = Static<typeof PayoutSettingsResource>

/**
 * The settings must show what was just saved, so they wait until the read model has reached the log's head.
 */
const waitMs = 1_000
const whole = { isWhole: true } as const
const destinationsMax = 100

/**
 * Saves a destination and makes it the default on request; a policy does the same in case of a crash between.
 */
export async function saveDestination(
  request: Request<Static<typeof PayoutDestinationRequest>>,
): Promise<Static<typeof PayoutDestinationResource>> {
  const { body, caller } = request
  const asked = readDestination(body, '')
  const home = asked.type === 'mobile_money' ? (marketOf(asked.country)?.currency ?? '') : null
  const currency = body.currency ?? home
  const destination = admitSaved({ destination: asked, currency })
  const id = destinationId(caller, destination)
  const data = { destination, currency, label: body.label ?? null, isDefault: body.is_default ?? false }
  const { state } = await request.send(payoutDestination, id, { type: 'SaveDestination', data }, whole)
  if (data.isDefault) await revise(request, { defaultDestination: id })
  return viewPayoutDestination(id, state) ?? refuse('resource_must_exist')
}

export async function showPayoutSettings(request: Request): Promise<Settings> {
  return settingsOf(request)
}

type Revision = Static<typeof PayoutSettingsRevision>

export async function revisePayoutSettings(request: Request<Revision>): Promise<Settings> {
  const { frequency, keep_minimum_balance, minimum_balance, default_destination_id, ...rest } = request.body
  const currency = rest.minimum_balance_currency
  if (currency && currencyExponent(currency) === undefined)
    refuseField('request_must_be_valid', '/minimum_balance_currency', `"${currency}" is not a currency`)
  const chosen = default_destination_id
    ? await activeDestination(request, default_destination_id)
    : default_destination_id
  await revise(request, {
    ...(frequency !== undefined && { frequency }),
    ...(keep_minimum_balance !== undefined && { keepMinimumBalance: keep_minimum_balance }),
    ...(minimum_balance !== undefined && { minimumBalance: minimum_balance }),
    ...(currency !== undefined && { minimumBalanceCurrency: currency }),
    ...(chosen !== undefined && { defaultDestination: chosen }),
  })
  return settingsOf(request)
}

type Asking = Pick<Request<unknown>, 'caller' | 'dependencies' | 'send' | 'read'>

async function revise(request: Asking, data: PayoutSettingsCommands['RevisePayoutSettings']): Promise<void> {
  const id = payoutSettingsId(request.caller)
  await request.send(payoutSettings, id, { type: 'RevisePayoutSettings', data }, whole)
}

/** The default may still be in its safety delay: it is used once that is over. */
async function activeDestination({ caller, dependencies }: Asking, text: string): Promise<string> {
  const id = identity(text)
  const state = id && (await readState(dependencies.store, payoutDestination, id))
  if (state && state.status === 'active' && owns(state, caller)) return id
  return refuseDestination('/default_destination_id', `"${text}" is not an active saved destination`)
}

async function settingsOf(request: Asking): Promise<Settings> {
  const { caller, dependencies } = request
  const { merchant, livemode } = caller
  await dependencies.reads.reached(await dependencies.store.head(), waitMs, payoutDestinations.name)
  const current = await readCurrent(dependencies.store, payoutSettings, payoutSettingsId(caller))
  const owner = await readState(dependencies.store, merchantDecider, merchant)
  const currency = owner.status === 'none' ? refuse('resource_must_exist') : owner.currency
  const { rows } = await dependencies.reads.page<{ readonly id: string; readonly state: PayoutDestination }>({
    from: payoutDestinations.name,
    where: equal({ ...ownedBy(caller), shown: true }),
    order: 'created',
    limit: destinationsMax,
  })
  request.read(current.revision)
  return viewPayoutSettings({ merchant, livemode, settings: current.state, currency, destinations: rows })
}
