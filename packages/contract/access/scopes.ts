/**
 * What a credential may do. Spec, Authentication names the payout scopes; the others follow their form.
 * Families declare theirs (`packages/domain/<family>/index.ts`).
 */
export type Scope = `${string}.${'read' | 'write'}`
