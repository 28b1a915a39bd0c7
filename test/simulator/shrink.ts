import { run, type RunOptions } from './run.ts'

const runsMaxDefault = 800

export interface ShrinkOptions extends RunOptions {
  /** So many histories are tried at most. */
  readonly runsMax?: number
}

type Steps = readonly number[]
type Fails = (only: Steps) => Promise<boolean>

/**
 * The shortest history found that still breaks the same law. A search that only ever leaves out more gets
 * stuck where it began, so there are two, from the end and from the beginning, and the shorter one counts.
 */
export async function shrink(options: ShrinkOptions, law: string): Promise<Steps> {
  const { runsMax = runsMaxDefault } = options
  const all = options.only ?? Array.from({ length: options.steps }, (_, step) => step)
  const fails = async (only: Steps) => (await run({ ...options, only })).violation?.law === law
  const limits = { runsMax: Math.floor(runsMax / 2) }
  const backward = await search(all, fails, { ...limits, isForward: false })
  const forward = await search(all, fails, { ...limits, isForward: true })
  return forward.length < backward.length ? forward : backward
}

interface SearchOptions {
  readonly isForward: boolean
  readonly runsMax: number
}

/** Leaves out pieces, ever smaller ones, and then again from the other end until no piece is left to omit. */
async function search(all: Steps, fails: Fails, { isForward, runsMax }: SearchOptions): Promise<Steps> {
  let kept = all
  let runs = 0
  for (let before = Infinity; kept.length < before && runs < runsMax; isForward = !isForward) {
    before = kept.length
    for (let size = Math.ceil(before / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let passed = 0; passed < kept.length && runs < runsMax; runs++) {
        const from = isForward ? passed : Math.max(kept.length - passed - size, 0)
        const to = isForward ? passed + size : kept.length - passed
        const without = [...kept.slice(0, from), ...kept.slice(to)]
        if (await fails(without)) kept = without
        else passed += size
      }
    }
  }
  return kept
}
