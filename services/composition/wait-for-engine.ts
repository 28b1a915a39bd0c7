import { setTimeout as pause } from 'node:timers/promises'
import { StoreAwayError } from '../../packages/kernel/ports.ts'
import { isAway } from './failures.ts'

const everyMs = 250

/**
 * Opens an engine as soon as it is up. One that is up and refuses, for example a password, is not waited for.
 * When time runs out, throws its sentence.
 */
export async function waitForEngine<Engine>(
  open: () => Promise<Engine>,
  waitSeconds: number,
): Promise<Engine> {
  const until = performance.now() + waitSeconds * 1_000
  for (let isTold = false; ; isTold = true) {
    try {
      return await open()
    } catch (error) {
      if (!isComing(error) || performance.now() >= until) throw error
      if (!isTold) process.stderr.write(`${error.message}; waiting up to ${waitSeconds} s for it\n`)
      await pause(everyMs)
    }
  }
}

/** Engines say in one sentence that they cannot be reached; the cause says why. */
function isComing(error: unknown): error is Error {
  if (error instanceof StoreAwayError && !error.mayPass) return false
  return error instanceof Error && (isAway(error) || isAway(error.cause ?? error) || isKafkaAway(error.cause))
}

/** The client wraps the original error; a missing permission is reported by name. */
function isKafkaAway(cause: unknown): boolean {
  const { name = '' } = (cause ?? {}) as { readonly name?: string }
  return name.startsWith('KafkaJS') && !/SASL|Authentication|Authorization/.test(name)
}
