import { Command } from 'commander'
import { addExamples } from './examples.ts'
import { version } from './terminal/version.ts'

/** By the names of their commands: what only another one needs is not loaded. */
const files: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  keys: async () => (await import('./keys.ts')).addKeys,
  deliveries: async () => (await import('./deliveries.ts')).addDeliveries,
  events: async () => (await import('./events.ts')).addEvents,
  ledger: async () => (await import('./ledger/ledger.ts')).addLedger,
  projections: async () => (await import('./projections.ts')).addProjections,
  parked: async () => (await import('./parked.ts')).addParked,
  cases: async () => (await import('./cases.ts')).addCases,
  payouts: async () => (await import('./support.ts')).addSupport,
  payments: async () => (await import('./support.ts')).addSupport,
  refunds: async () => (await import('./support.ts')).addSupport,
  transfers: async () => (await import('./ledger/transfers.ts')).addTransfers,
  merchants: async () => (await import('./merchants.ts')).addMerchants,
  export: async () => (await import('./ledger/export.ts')).addExport,
  finance: async () => (await import('./finance.ts')).addFinance,
  period: async () => (await import('./ledger/period.ts')).addPeriod,
  reconcile: async () => (await import('./ledger/reconcile.ts')).addReconcile,
  backup: async () => (await import('./stores/backup.ts')).addBackup,
  restore: async () => (await import('./stores/backup.ts')).addBackup,
  audit: async () => (await import('./audit/audit.ts')).addAudit,
  witness: async () => (await import('./audit/witness.ts')).addWitness,
  secrets: async () => (await import('./stores/secrets.ts')).addSecrets,
  privacy: async () => (await import('./privacy.ts')).addPrivacy,
  demo: async () => (await import('./demo/demo.ts')).addDemo,
}

/** The command line with the command of this name, or with all of them where there is none. */
export async function programOf(name?: string): Promise<Command> {
  const program = new Command('ikw')
    .description(
      'Looks after a payments service: the same settings (DATA_DIR, POSTGRES_URL, …), running or not.',
    )
    .version(version())
    .exitOverride()

  const file = name !== undefined && Object.hasOwn(files, name) ? files[name] : undefined
  const loaded = await Promise.all((file ? [file] : Object.values(files)).map((load) => load()))
  for (const add of new Set(loaded)) add(program)
  addExamples(program)
  return program
}
