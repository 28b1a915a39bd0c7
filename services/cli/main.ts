#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { addAudit } from './audit.ts'
import { addBackup } from './backup.ts'
import { addCases } from './cases.ts'
import { addDeliveries } from './deliveries.ts'
import { addDemo } from './demo/demo.ts'
import { addEvents } from './events.ts'
import { addExport } from './export.ts'
import { exitCodes } from './failure.ts'
import { addKeys } from './keys.ts'
import { addLedger } from './ledger.ts'
import { addParked } from './parked.ts'
import { printableLines } from './printable.ts'
import { addProjections } from './projections.ts'
import { addSecrets } from './secrets.ts'
import { addWitness } from './witness.ts'

const program = new Command('ikw')
  .description(
    'Looks after a payments service: the same settings (DATA_DIR, POSTGRES_URL, …), running or not.',
  )
  .exitOverride()

for (const add of [
  addKeys,
  addDeliveries,
  addEvents,
  addLedger,
  addProjections,
  addParked,
  addCases,
  addExport,
  addBackup,
  addAudit,
  addWitness,
  addSecrets,
  addDemo,
])
  add(program)

// Whoever reads only the first lines (`ikw … | head`) has seen enough.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) =>
  process.exit(code === 'EPIPE' ? 0 : exitCodes.cannot),
)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = codeOf(error)
}

/** Commander has said what is wrong with the arguments; everything else is said here in one sentence. */
function codeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.cannot
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${printableLines(message)}\n`)
  return exitCodes.cannot
}
