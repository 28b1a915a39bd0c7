import { apiKey } from '../packages/domain/api-keys/api-key.ts'
import { documents } from '../packages/kernel/projection.ts'

/** For lists; authentication reads the streams. */
export const apiKeys = documents(apiKey, {
  name: 'api_keys',
  version: 2,
  columns: { name: 'text', status: 'text', last4: 'text', environment: 'text' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { name, status, last4, livemode } = state
    return { name, status, last4, environment: livemode ? 'live' : 'sandbox' }
  },
  indexes: [['merchant', 'created']],
})
