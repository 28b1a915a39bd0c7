/** Plain data, so that it survives a snapshot: two generations of what happened last, by id. */
export interface Recent<What> {
  young: Record<string, What>
  youngCount: number
  old: Record<string, What>
}

/** At least so many ids are remembered, and at most twice as many. */
const remembered = 1_000

export function nothingRecent<What>(): Recent<What> {
  return { young: {}, youngCount: 0, old: {} }
}

export function remember<What>(recent: Recent<What>, id: string, what: What): void {
  if (recent.youngCount === remembered) {
    recent.old = recent.young
    recent.young = {}
    recent.youngCount = 0
  }
  recent.young[id] = what
  recent.youngCount++
}

export function recall<What>({ young, old }: Recent<What>, id: string): What | undefined {
  return young[id] ?? old[id]
}
