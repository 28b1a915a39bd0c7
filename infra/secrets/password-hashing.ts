import { hashSync, verifySync, type Algorithm } from '@node-rs/argon2'
import { lowerThreadPriority } from '../os/thread-priority.ts'

/** `Algorithm.Argon2id`, an enum that exists for the compiler alone. */
const argon2id = 2 as Algorithm.Argon2id
/** OWASP, Password Storage Cheat Sheet: argon2id with 19 MiB, two iterations, one lane. */
const cost = { algorithm: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// A busy service still lets people in, and a flood of sign-ins takes what everything else leaves over.
lowerThreadPriority()

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
