import { constants, getPriority, setPriority } from 'node:os'
import { hashSync, verifySync, type Algorithm } from '@node-rs/argon2'

/** `Algorithm.Argon2id`, an enum that exists for the compiler alone. */
const argon2id = 2 as Algorithm.Argon2id
/** OWASP, Password Storage Cheat Sheet: argon2id with 19 MiB, two iterations, one lane. */
const cost = { algorithm: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A tenth of a processor for each that others want too, so that a busy service still lets people in. */
const lower = 10
const lowest = constants.priority.PRIORITY_LOW
// On Linux a thread has a priority of its own; elsewhere the whole process would have this one.
if (process.platform === 'linux') setPriority(Math.min(lowest, getPriority() + lower))

export interface Guess {
  readonly password: string
  readonly known: string
}

// What the threads of `passwords` do, by name.

export function hash(password: string): string {
  return hashSync(password, cost)
}

export function isEqual({ password, known }: Guess): boolean {
  return verifySync(known, password)
}
