import { InvalidArgumentError, type Command } from 'commander'
import type { Printing } from '../terminal/output.ts'

/** Name and reason, recorded in the events of what support does. */
export interface Signed extends Printing {
  readonly by: string
  readonly reason: string
}

const nameMax = 64
const reasonMax = 1_000

export function signed(command: Command): Command {
  return command
    .requiredOption('--by <name>', 'your name', name)
    .requiredOption('--reason <text>', 'why', reason)
}

function name(text: string): string {
  const trimmed = text.trim().toLowerCase()
  if (new RegExp(`^[a-z0-9._@-]{1,${nameMax}}$`).test(trimmed)) return trimmed
  throw new InvalidArgumentError(`It takes 1 to ${nameMax} letters, digits and . _ @ -`)
}

function reason(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length >= 3 && trimmed.length <= reasonMax) return trimmed
  throw new InvalidArgumentError(`It takes 3 to ${reasonMax} characters.`)
}
