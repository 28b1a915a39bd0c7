import type { Family } from '../../contract/family.ts'
import { portalSession } from './portal-session.ts'

/** What one customer of a merchant sees and does, for an hour at a time. */
export const portal: Family = { name: 'portal', ids: { portal_session: 'ps' }, streams: [portalSession] }
