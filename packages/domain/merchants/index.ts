import type { Family } from '../../contract/family.ts'
import { merchant } from './merchant.ts'

export const merchants: Family = { name: 'merchants', streams: [merchant] }
