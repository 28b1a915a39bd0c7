import { listRows } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import { SecurityEventResource } from '../../../packages/domain/users/resources/security-resource.ts'
import { securityEvents } from '../../../projections/security-events.ts'

type Shown = Static<typeof SecurityEventResource>

const rows = [
  listRows('GET /api/v1/auth/history', {
    scope: 'own',
    credentials: ['user'],
    owner: 'user',
    summary:
      'What happened to your access: sign-ins, failures, factors, sessions, keys and roles, newest first',
    inferred: true,
    paging: 'cursor',
    from: securityEvents,
    order: 'position',
    returns: SecurityEventResource,
    view: (row) => {
      const { id, type, at, actor, request, merchant, kind, subject } = row as Readonly<
        Record<string, string>
      >
      return {
        id,
        object: 'security_event',
        livemode: false,
        type,
        at,
        actor,
        request_id: request,
        merchant_id: merchant,
        subject_type: kind,
        subject_id: subject,
      } as Shown
    },
  }),
]

export const securityEventRoutes = section(
  'History of a user',
  'Every event that tells of somebody’s access. What an address or a name was is not in it.',
  rows,
)
