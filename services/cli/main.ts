#!/usr/bin/env node
import { CommanderError } from 'commander'
import { exitCodes } from './terminal/failure.ts'
import { printableLines } from './terminal/printable.ts'
import { programOf } from './program.ts'

// A reader who closes the pipe early (`ikw … | head`) has seen enough.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) =>
  process.exit(code === 'EPIPE' ? 0 : exitCodes.cannot),
)

try {
  const program = await programOf(process.argv[2])
  await program.parseAsync()
} catch (error) {
  process.exitCode = codeOf(error)
}

/** Commander reports invalid arguments; every other error is shown here as one sentence. */
function codeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.cannot
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${printableLines(message)}\n`)
  return exitCodes.cannot
}
