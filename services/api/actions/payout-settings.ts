import { currencyExponent } from '../../../packages/contract/locale/currencies.ts'
import { identity } from '../../../packages/contract/identity.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import { merchant as merchantDecider } from '../../../packages/domain/merchants/merchant.ts'
import { refuseDestination } from '../../../packages/domain/payouts/destination-request.ts'
import { payoutDestination, type PayoutDestination } from '../../../packages/domain/payouts/destination.ts'
import type { PayoutSettingsRevision, SettingsParts } from '../../../packages/domain/payouts/resource.ts'
import {
  payoutSettings,
  payoutSettingsId,
  type PayoutSettingsCommands,
} from '../../../packages/domain/payouts/settings.ts'
import type { Outcome } from '../../../packages/kernel/execution/options.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { ownedBy, owns } from '../../../packages/kernel/owner.ts'
import { equal } from '../../../packages/kernel/ports/reads.ts'
import { payoutDestinations } from '../../../projections/payouts.ts'

/** The settings must show what was just saved, so they wait for the read model to reach the log's end. */
const waitMs = 1_000
const whole = { isWhole: true } as const
const destinationsMax = 100

/** What was saved as the default is so at once; a policy makes it so after a crash in between. */
export async function makeDefault(
  request: Request<unknown>,
  { id, state }: Outcome<PayoutDestination>,
): Promise<void> {
  if (state.status === 'none' || !state.isDefault) return
  const command = { type: 'RevisePayoutSettings', data: { defaultDestination: id } } as const
  await request.send(payoutSettings, payoutSettingsId(request.caller), command, whole)
}

type Revision = PayoutSettingsCommands['RevisePayoutSettings']

export async function prepareRevision(
  request: Request<Static<typeof PayoutSettingsRevision>>,
): Promise<Revision> {
  const { frequency, keep_minimum_balance, minimum_balance, default_destination_id, ...rest } = request.body
  const currency = rest.minimum_balance_currency
  if (currency && currencyExponent(currency) === undefined)
    refuseField('request_must_be_valid', '/minimum_balance_currency', `"${currency}" is not a currency`)
  const chosen = default_destination_id
    ? await activeDestination(request, default_destination_id)
    : default_destination_id
  return {
    ...(frequency !== undefined && { frequency }),
    ...(keep_minimum_balance !== undefined && { keepMinimumBalance: keep_minimum_balance }),
    ...(minimum_balance !== undefined && { minimumBalance: minimum_balance }),
    ...(currency !== undefined && { minimumBalanceCurrency: currency }),
    ...(chosen !== undefined && { defaultDestination: chosen }),
  }
}

type RequestPart = Pick<Request<unknown>, 'caller' | 'dependencies'>

/** The default may still be in its safety delay: it is used once that is over. */
async function activeDestination({ caller, dependencies }: RequestPart, text: string): Promise<string> {
  const id = identity(text)
  const state = id && (await readState(dependencies.store, payoutDestination, id))
  if (state && state.status === 'active' && owns(state, caller)) return id
  return refuseDestination('/default_destination_id', `"${text}" is not an active saved destination`)
}

export async function besideSettings({ caller, dependencies }: RequestPart): Promise<SettingsParts> {
  const { merchant, livemode } = caller
  const { reads, store } = dependencies
  await reads.reached(await store.head(), waitMs, payoutDestinations.name)
  const owner = await readState(store, merchantDecider, merchant)
  const currency = owner.status === 'none' ? refuse('resource_must_exist') : owner.currency
  const { rows } = await reads.page<SettingsParts['destinations'][number]>({
    from: payoutDestinations.name,
    where: equal({ ...ownedBy(caller), shown: true }),
    order: 'created',
    limit: destinationsMax,
  })
  return { merchant, livemode, currency, destinations: rows }
}
