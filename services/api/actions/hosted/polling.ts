import { Type } from '../../../../packages/contract/vocabulary.ts'

export const PollAfter = Type.Integer({
  minimum: 0,
  description: 'Ask again after so long; 0: nothing more follows',
})

const polledEveryMs = 1_500

/** How long a page waits before it asks again; `isUnderWay`: something more may follow. */
export function pollAfterMs(isUnderWay: boolean): number {
  return isUnderWay ? polledEveryMs : 0
}
