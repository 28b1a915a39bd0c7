import type { Role } from './callers.ts'
import type { Scope } from './scopes.ts'

export const roles = ['owner', 'admin', 'developer', 'analyst', 'support'] as const satisfies readonly Role[]

/** Each letter grants what the scope's name ends in. */
type Rights = 'rw' | 'r' | 'w' | '-'

/** Domain model 1.5: what each role may do, in the order of `roles`. */
const table: Readonly<Record<string, readonly [Rights, Rights, Rights, Rights, Rights]>> = {
  payments: ['rw', 'rw', 'rw', 'r', 'rw'],
  payouts: ['rw', 'rw', 'r', 'r', 'r'],
  refunds: ['w', 'w', '-', '-', 'w'],
  balance: ['r', 'r', 'r', 'r', 'r'],
  // Not in the model: the log's proofs tell nothing that the other scopes do not.
  audit: ['r', 'r', 'r', 'r', 'r'],
  customers: ['rw', 'rw', 'r', 'r', 'rw'],
  billing: ['rw', 'rw', 'r', 'r', 'r'],
  webhooks: ['rw', 'rw', 'rw', 'r', 'r'],
  escrow: ['rw', 'rw', 'r', 'r', 'r'],
  funding: ['rw', 'rw', 'r', 'r', 'r'],
  marketplace: ['rw', 'rw', 'r', 'r', 'r'],
  automations: ['rw', 'rw', 'rw', 'r', 'r'],
  templates: ['rw', 'rw', 'rw', 'r', 'r'],
  assets: ['rw', 'rw', 'rw', 'r', 'rw'],
  configuration: ['rw', 'rw', 'r', 'r', 'r'],
  intelligence: ['rw', 'rw', 'r', 'r', 'r'],
  settings: ['rw', 'rw', 'r', 'r', '-'],
  organizations: ['w', 'w', '-', '-', '-'],
  apikeys: ['rw', 'rw', 'rw', '-', '-'],
  team: ['rw', 'rw', 'r', '-', '-'],
  // Not in the model: what is closed stays as it is.
  months: ['w', '-', '-', '-', '-'],
}

const byRole: ReadonlyMap<Role, readonly Scope[]> = new Map(
  roles.map((role, index) => [
    role,
    Object.entries(table).flatMap(([area, rights]) => scopesOf(area, rights[index]!)),
  ]),
)

function scopesOf(area: string, rights: Rights): readonly Scope[] {
  return [
    ...(rights.includes('r') ? [`${area}.read` as const] : []),
    ...(rights.includes('w') ? [`${area}.write` as const] : []),
  ]
}

/** Domain model 1.5: for users only, so a key with such a scope could do nothing with it. */
const areasOfUsers = ['organizations', 'apikeys', 'team', 'months']

export function isForUsersOnly(scope: string): boolean {
  return areasOfUsers.includes(scope.split('.')[0]!)
}

/** What somebody with this role may do for the merchant. */
export function scopesOfRole(role: Role): readonly Scope[] {
  return byRole.get(role)!
}

/** Whoever may write to the team gives any role that somebody can be invited with. */
export function mayInvite(role: Role | undefined): boolean {
  return role !== undefined && scopesOfRole(role).includes('team.write')
}

/** Who works for no merchant, or none any more, may begin with one of their own. */
export const scopesOfNonMembers: readonly Scope[] = ['organizations.write']
