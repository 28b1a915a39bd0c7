import type { Family } from '../../contract/family.ts'
import { logKey } from './log-key.ts'

/** Who signs the log. */
export const logKeys: Family = { name: 'log-keys', scopes: ['audit.read'], streams: [logKey] }
