import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

const real = timers.setTimeout

/**
 * Code of ours waits by `node:timers/promises` and nothing else. While this is on, the simulator waits for
 * it, so that nothing in a run depends on real time.
 */
export function takePauses(pause: (delayMs: number) => Promise<void>): () => void {
  const simulated = async <Value>(delayMs?: number, value?: Value) => {
    await pause(delayMs ?? 1)
    return value as Value
  }
  timers.setTimeout = simulated
  syncBuiltinESMExports()
  return () => {
    timers.setTimeout = real
    syncBuiltinESMExports()
  }
}
