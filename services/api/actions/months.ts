import { Refusal, refuse } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { period, periodId, type Period } from '../../../packages/domain/periods/period.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import {
  viewClosedMonth,
  type ClosedMonthView,
  type MonthToClose,
} from '../../../packages/domain/periods/resource.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { equal } from '../../../packages/kernel/ports/reads.ts'
import { balances } from '../../../projections/balances.ts'
import {
  closeMonth,
  monthOfMerchant,
  monthsOfMerchant,
  NotCountableYetError,
  type Month,
} from '../../composition/books/close-month.ts'

type Closing = Request<Static<typeof MonthToClose>>

/** Whoever waits longer asks again: what is done by then is not done again. */
const patienceMs = 15_000
const againSeconds = 5

export async function showMonth(request: Request): Promise<ClosedMonthView> {
  const month = request.params['month']!
  if (!/^\d{4}-\d{2}$/.test(month)) return unknown(month)
  return shown(request, month, await stateOf(request, month))
}

/** Also one that is closed already; one that was opened again is counted anew. */
export async function closeMonthOfOwner(request: Closing): Promise<ClosedMonthView> {
  const { dependencies } = request
  const month = await monthAsked(request)
  if (month.to > dependencies.clock().toISOString())
    refuse('month_must_be_over', { detail: `${month.month} ends at ${month.to}` })
  const closed = await dependencies.exclusively(monthsOfMerchant(month), async () => {
    const known = await stateOf(request, month.month)
    return known.status === 'closed' ? known : countedNow(request, month)
  })
  if (closed) return shown(request, month.month, closed)
  throw new Refusal('month_must_not_be_in_work', { retryAfterSeconds: againSeconds })
}

async function countedNow({ dependencies }: Closing, month: Month): Promise<Period> {
  try {
    return await closeMonth(dependencies, month, patienceMs)
  } catch (error) {
    if (!(error instanceof NotCountableYetError)) throw error
    throw new Refusal('month_must_be_countable', { retryAfterSeconds: againSeconds })
  }
}

async function monthAsked({ caller, dependencies, body }: Closing): Promise<Month> {
  const { merchant, livemode, actor } = caller
  const { rows } = await dependencies.reads.page<{ currency: string }>({
    from: balances.name,
    where: equal({ merchant, livemode }),
    order: 'currency',
    limit: currenciesMax,
  })
  const currencies = rows.map(({ currency }) => currency)
  const asked = { merchant, livemode, actor, month: body.month, currencies }
  return (await monthOfMerchant(dependencies, asked)) ?? refuse('resource_must_exist')
}

/** More than there are. */
const currenciesMax = 1_000

type Asked = Pick<Request, 'caller' | 'dependencies'>

function stateOf({ caller, dependencies }: Asked, month: string): Promise<Period> {
  const { merchant, livemode } = caller
  return readState(dependencies.store, period, periodId(merchant, livemode, month))
}

function shown({ caller: { livemode } }: Asked, month: string, state: Period): ClosedMonthView {
  if (state.status !== 'none') return viewClosedMonth({ livemode, month }, state)
  return unknown(month)
}

function unknown(month: string): never {
  refuse('resource_must_exist', { detail: `The month ${month.slice(0, 64)} was never closed` })
}
