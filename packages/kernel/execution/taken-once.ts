/**
 * What a stream has taken from a policy, and from requests that went ahead of it, so that each thing is taken
 * once and yet little is remembered. A policy comes in the order of positions; whatever goes ahead is
 * remembered until the policy has passed it.
 */
export interface Taken {
  /** The policy has come up to this position. */
  readonly through: number
  /** Taken ahead of it: ids with their positions. */
  readonly ahead: Readonly<Record<string, number>>
}

/** What is taken, and the position of the event that tells it. */
export interface Told {
  readonly id: string
  readonly position: number
}

export const nothingTaken: Taken = { through: 0, ahead: {} }

/** So many go ahead at most; the others are left to the policy. */
export const aheadMax = 256

/** Whether it was taken, or has to wait for the policy. */
export function isSettled(taken: Taken, { id, position }: Told, isPolicy: boolean): boolean {
  if (position <= taken.through || Object.hasOwn(taken.ahead, id)) return true
  return !isPolicy && Object.keys(taken.ahead).length >= aheadMax
}

export function withTaken({ through, ahead }: Taken, { id, position }: Told, isPolicy: boolean): Taken {
  if (!isPolicy) return { through, ahead: { ...ahead, [id]: position } }
  const left = Object.entries(ahead).filter(([, other]) => other > position)
  return { through: position, ahead: Object.fromEntries(left) }
}
