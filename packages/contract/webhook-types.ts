/** The type of a public event: `payout.paid`. Families declare theirs with what they mean. */
export type WebhookType = `${string}.${string}`

/** All that an endpoint may be enabled for: everything, all types of one resource (`payout.*`), one type. */
export function patternsOf(types: readonly string[]): readonly string[] {
  return ['*', ...new Set(types.map((type) => `${resourceOf(type)}.*`)), ...types]
}

/** Whether an endpoint with these enabled events gets events of that type. */
export function matches(enabledEvents: readonly string[], type: string): boolean {
  const patterns = ['*', `${resourceOf(type)}.*`, type]
  return enabledEvents.some((enabled) => patterns.includes(enabled))
}

/** `payout.paid` is of `payout`. */
function resourceOf(type: string): string {
  return type.slice(0, type.indexOf('.'))
}
