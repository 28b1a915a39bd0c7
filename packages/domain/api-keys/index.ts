import type { Family } from '../../contract/family.ts'
import { apiKey } from './api-key.ts'

export const apiKeys: Family = { name: 'api-keys', streams: [apiKey] }
