import { run, type RunOptions } from './run.ts'

const runsMaxDefault = 400

export interface ShrinkOptions extends RunOptions {
  /** So many histories are tried at most. */
  readonly runsMax?: number
}

/**
 * The shortest history found that still breaks the same law: pieces of it are left out, ever smaller ones, as
 * long as it fails without them.
 */
export async function shrink(options: ShrinkOptions, law: string): Promise<readonly number[]> {
  const { runsMax = runsMaxDefault } = options
  let kept = options.only ?? Array.from({ length: options.steps }, (_, step) => step)
  let runs = 0
  const fails = async (only: readonly number[]) => {
    runs++
    const { violation } = await run({ ...options, only })
    return violation?.law === law
  }
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = kept.length - size; from > -size && runs < runsMax; from -= size) {
      const without = [...kept.slice(0, Math.max(from, 0)), ...kept.slice(from + size)]
      if (await fails(without)) kept = without
    }
  }
  return kept
}
