/** Inferred: more mails in an hour tell nobody more than one that says all. */
const mailed = { most: 5, inMs: 3_600_000 }

/** When the next mail of a kind may go to somebody. `mailedAt` are the last ones, oldest first. */
export function nextMailAt(mailedAt: readonly string[], now: Date): Date {
  const first = mailedAt.at(-mailed.most)
  return first === undefined ? now : new Date(Math.max(now.getTime(), Date.parse(first) + mailed.inMs))
}

/** Several that are noted at one moment were one mail. */
export function withMailAt(mailedAt: readonly string[], at: string): readonly string[] {
  return mailedAt.at(-1) === at ? mailedAt : [...mailedAt, at].slice(-mailed.most)
}
