/** The type of a public event: `payout.paid`. Families declare theirs with their meaning. */
export type WebhookType = `${string}.${string}`

/** What an endpoint can subscribe to: everything, all types of one resource (`payout.*`), or one type. */
export function patternsOf(types: readonly string[]): readonly string[] {
  return ['*', ...new Set(types.map((type) => `${resourceOf(type)}.*`)), ...types]
}

/** Whether an endpoint with these enabled events receives events of that type. */
export function matches(enabledEvents: readonly string[], type: string): boolean {
  const patterns = ['*', `${resourceOf(type)}.*`, type]
  return enabledEvents.some((enabled) => patterns.includes(enabled))
}

/** `payout.paid` belongs to `payout`. */
function resourceOf(type: string): string {
  return type.slice(0, type.indexOf('.'))
}
