import { apiKey } from '../packages/domain/api-keys/api-key.ts'
import { documents } from '../packages/kernel/projection.ts'

/** For the command line's list; authentication reads the streams. */
export const apiKeys = documents(apiKey, {
  name: 'api_keys',
  version: 1,
  columns: { name: 'text', status: 'text', last4: 'text' },
})
