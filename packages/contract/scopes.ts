/**
 * What a credential may be allowed to do. Spec, Authentication names the payout scopes; the others are
 * inferred in its form. Families declare theirs (`packages/domain/<family>/index.ts`).
 */
export type Scope = `${string}.${'read' | 'write'}`
