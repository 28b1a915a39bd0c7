import { availableParallelism } from 'node:os'
import { hash, verify, type Algorithm } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { PasswordsBusyError, type Passwords } from '../../packages/kernel/credential-ports.ts'
import { guesser } from './password-strength.ts'

/** `Algorithm.Argon2id`, an enum that exists for the compiler alone. */
const argon2id = 2 as Algorithm.Argon2id
/** OWASP, Password Storage Cheat Sheet: argon2id with 19 MiB, two iterations, one lane. */
const cost = { algorithm: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export interface PasswordOptions {
  /** Hashed at a time: each takes a processor for some 20 ms. */
  readonly atOnce?: number
  /** Waiting; any more are refused as overload. */
  readonly waitingMax?: number
}

/** Of nobody's password: whoever tries an unknown address waits as long. */
const nobodysHash =
  '$argon2id$v=19$m=19456,t=2,p=1$clXM9Fjotac86VFsJm1FHQ$5s24HyuNEAIZ7J3wFGcyXDBOHlEoAa3y+CtKrSaWoqM'

/**
 * The native hash runs beside the event loop. Only as many run at once as there are processors, so that
 * neither files nor name look-ups, which share its threads, wait behind a flood of sign-ins.
 */
export function passwords({
  atOnce = availableParallelism(),
  waitingMax = 200,
}: PasswordOptions = {}): Passwords {
  const limit = pLimit(atOnce)
  const requireRoom = () => {
    if (limit.pendingCount >= waitingMax) throw new PasswordsBusyError()
  }
  const queued = <Result>(work: () => Promise<Result>): Promise<Result> => {
    requireRoom()
    return limit(work)
  }
  return {
    requireRoom,
    hash: async (password) => queued(() => hash(password, cost)),
    isRight: async (password, known) => {
      const isEqual = await queued(() => verify(known ?? nobodysHash, password))
      return isEqual && known !== null
    },
    isWeak: async (password, known) => (await guesser())(password, known),
  }
}
