import { availableParallelism } from 'node:os'
import {
  PasswordsBusyError,
  type QueueKeys,
  type Passwords,
} from '../../packages/kernel/ports/credentials.ts'
import { HashingLanes } from './hashing-lanes.ts'
import { HashingThreads } from './hashing-threads.ts'
import type { Guess } from './password-hashing.ts'
import { guesser } from './password-strength.ts'
import { SharedPlaces } from './shared-places.ts'

export interface PasswordOptions {
  /** Hashed at a time: each takes a processor for some 20 ms. */
  readonly atOnce?: number
  /** Beyond those; any more are refused as overload. */
  readonly waitingMax?: number
  /** In milliseconds, from any beginning. */
  readonly now?: () => number
}

/** Half a second's work, twice that where one of two processors is left free: they hold places of the API. */
const waitingForEach = 25
/** Of nobody's password: whoever tries an unknown address waits as long. */
const nobodysHash =
  '$argon2id$v=19$m=19456,t=2,p=1$clXM9Fjotac86VFsJm1FHQ$5s24HyuNEAIZ7J3wFGcyXDBOHlEoAa3y+CtKrSaWoqM'

/**
 * Hashes on all processors, or all but one while others are served, in threads of a low priority: a flood of
 * sign-ins takes what everything else leaves over, so neither the API nor Postgres waits for it.
 */
export function passwords({
  atOnce = availableParallelism(),
  waitingMax = waitingForEach * atOnce,
  now = () => performance.now(),
}: PasswordOptions = {}): Passwords {
  const threads = new HashingThreads()
  const lanes = new HashingLanes({ most: atOnce, now })
  const places = new SharedPlaces(waitingMax + atOnce)
  const requireRoom = (keys: QueueKeys) => {
    if (!places.hasRoom(keys)) throw new PasswordsBusyError()
  }
  const place = (keys: QueueKeys) => {
    requireRoom(keys)
    return places.take(keys)
  }
  const work = <Result>(name: 'hash' | 'isEqual', given: string | Guess, release: () => void) =>
    lanes.run(async () => {
      try {
        return (await threads.run(name, given)) as Result
      } finally {
        // Not when it is told: until then another one may wait in its place.
        release()
      }
    })
  const guessing = async ({ password, known }: Guessing, release: () => void) => {
    const guess: Guess = { password: asComposed(password), known: known ?? nobodysHash }
    return (await work<boolean>('isEqual', guess, release)) && known !== null
  }
  return {
    shareProcessors: () => lanes.shareProcessors(),
    requireRoom,
    reserve(keys) {
      const release = place(keys)
      return { isRight: (password, known) => guessing({ password, known }, release), release }
    },
    hash: async (password, keys) => work<string>('hash', asComposed(password), place(keys)),
    isRight: async (password, known, keys) => guessing({ password, known }, place(keys)),
    isWeak: async (password, known) => guesser()(password, known),
  }
}

interface Guessing {
  readonly password: string
  readonly known: string | null
}

/** One device sends é as one character, another as two: it is the same password (RFC 8265). */
function asComposed(password: string): string {
  return password.normalize('NFC')
}
