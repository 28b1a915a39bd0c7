import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { PasswordsBusyError, type Passwords } from '../../packages/kernel/credential-ports.ts'
import type { Guess } from './password-hashing.ts'
import { guesser } from './password-strength.ts'

export interface PasswordOptions {
  /** Hashed at a time: each takes a processor for some 20 ms. */
  readonly atOnce?: number
  /** Waiting; any more are refused as overload. */
  readonly waitingMax?: number
}

/** Half a second's work: they hold places of the API while they wait. */
const waitingForEach = 25
/** So that threads last from one sign-in to the next, and a quiet service has none. */
const idleMs = 60_000

/** Of nobody's password: whoever tries an unknown address waits as long. */
const nobodysHash =
  '$argon2id$v=19$m=19456,t=2,p=1$clXM9Fjotac86VFsJm1FHQ$5s24HyuNEAIZ7J3wFGcyXDBOHlEoAa3y+CtKrSaWoqM'

/** `.ts` where the program runs from its sources. */
const hashing = fileURLToPath(new URL(`./password-hashing${import.meta.url.slice(-3)}`, import.meta.url))

/**
 * Hashes on all processors, in threads of a low priority: a flood of sign-ins takes what everything else
 * leaves over, so neither the API nor Postgres waits for it.
 */
export function passwords({
  atOnce = availableParallelism(),
  waitingMax = waitingForEach * atOnce,
}: PasswordOptions = {}): Passwords {
  const threads = new Piscina({ filename: hashing, minThreads: 0, maxThreads: atOnce, idleTimeout: idleMs })
  let reserved = 0
  const requireRoom = () => {
    if (threads.queueSize + reserved >= waitingMax) throw new PasswordsBusyError()
  }
  const isRight = async (password: string, known: string | null) => {
    const guess: Guess = { password: asComposed(password), known: known ?? nobodysHash }
    const isEqual = (await threads.run(guess, { name: 'isEqual' })) as boolean
    return isEqual && known !== null
  }
  return {
    requireRoom,
    reserve() {
      requireRoom()
      reserved += 1
      const release = once(() => (reserved -= 1))
      const use = (password: string, known: string | null) => {
        release()
        return isRight(password, known)
      }
      return { isRight: use, release }
    },
    hash: async (password) => {
      requireRoom()
      return (await threads.run(asComposed(password), { name: 'hash' })) as string
    },
    isRight: async (password, known) => {
      requireRoom()
      return isRight(password, known)
    },
    isWeak: async (password, known) => (await guesser())(password, known),
  }
}

/** One device sends é as one character, another as two: it is the same password (RFC 8265). */
function asComposed(password: string): string {
  return password.normalize('NFC')
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}
