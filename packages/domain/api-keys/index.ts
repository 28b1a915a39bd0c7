import type { Family } from '../../contract/family.ts'
import { apiKey } from './api-key.ts'
import { issueSuccessor } from './policies.ts'

export const apiKeys: Family = {
  name: 'api-keys',
  scopes: ['apikeys.read', 'apikeys.write'],
  streams: [apiKey],
  policies: [issueSuccessor],
}
