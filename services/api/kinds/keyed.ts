import type { AnswerKey } from '../../../packages/kernel/ports/reads.ts'

/** A keyed request: the key, the operation it was used for, and the id that follows from both. */
export interface Keyed {
  readonly answerKey: AnswerKey
  /** Reveals nothing of the request, which may be about a person, to anyone without our key. */
  readonly fingerprint: string
  /** As older versions made it. */
  readonly olderFingerprint: () => string
  /** The id is derived from the key: a repeat meets the same stream, for ever. */
  readonly id: string
}

/** Whether a fingerprint that was kept is this request's. */
export function isOf({ fingerprint, olderFingerprint }: Keyed, kept: string | undefined): boolean {
  return kept === fingerprint || kept === olderFingerprint()
}
