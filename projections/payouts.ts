import { payoutDestination } from '../packages/domain/payouts/destination.ts'
import { payout } from '../packages/domain/payouts/payout.ts'
import { payoutSettings } from '../packages/domain/payouts/settings.ts'
import { documents } from '../packages/kernel/projection.ts'

export const payouts = documents(payout, {
  name: 'payouts',
  version: 2,
  columns: { status: 'text', currency: 'text', amount: 'bigint' },
  row: (state) => {
    if (state.status === 'none' || state.status === 'abandoned') return undefined
    const { status, money } = state
    return { status, currency: money.currency, amount: money.amount }
  },
  indexes: [
    ['merchant', 'livemode', 'status', 'created'],
    ['merchant', 'livemode', 'created_at'],
  ],
  countedBy: ['status', 'currency'],
})

/** A removed destination is not shown. */
export const payoutDestinations = documents(payoutDestination, {
  name: 'payout_destinations',
  version: 1,
  columns: { type: 'text' },
  row: (state) => (state.status === 'active' ? { type: state.destination.type } : undefined),
  indexes: [],
})

export const payoutSettingsDocuments = documents(payoutSettings, {
  name: 'payout_settings',
  version: 2,
  columns: { frequency: 'text', default_destination: 'text' },
  row: ({ frequency, defaultDestination }) => ({ frequency, default_destination: defaultDestination }),
  indexes: [],
})
