import fc from 'fast-check'

/** The same values in each run, so that a suite fails by what has changed; `SEED=7` draws others. */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) })

export { fc }
export type { Arbitrary } from 'fast-check'
