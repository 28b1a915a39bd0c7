import { Command } from 'commander'
import { addAudit } from './audit/audit.ts'
import { addBackup } from './stores/backup.ts'
import { addCases } from './cases.ts'
import { addDeliveries } from './deliveries.ts'
import { addDemo } from './demo/demo.ts'
import { addEvents } from './events.ts'
import { addExport } from './ledger/export.ts'
import { addExamples } from './examples.ts'
import { addFinance } from './finance.ts'
import { addKeys } from './keys.ts'
import { addLedger } from './ledger/ledger.ts'
import { addMerchants } from './merchants.ts'
import { addParked } from './parked.ts'
import { addWitness } from './audit/witness.ts'
import { version } from './terminal/version.ts'
import { addPeriod } from './ledger/period.ts'
import { addPrivacy } from './privacy.ts'
import { addProjections } from './projections.ts'
import { addReconcile } from './ledger/reconcile.ts'
import { addSecrets } from './stores/secrets.ts'
import { addSupport } from './support.ts'
import { addTransfers } from './ledger/transfers.ts'

/** The command line with all its commands. */
export function programOf(): Command {
  const program = new Command('ikw')
    .description(
      'Looks after a payments service: the same settings (DATA_DIR, POSTGRES_URL, …), running or not.',
    )
    .version(version())
    .exitOverride()

  for (const add of [
    addKeys,
    addDeliveries,
    addEvents,
    addLedger,
    addProjections,
    addParked,
    addCases,
    addSupport,
    addTransfers,
    addMerchants,
    addExport,
    addFinance,
    addPeriod,
    addReconcile,
    addBackup,
    addAudit,
    addWitness,
    addSecrets,
    addPrivacy,
    addDemo,
  ])
    add(program)
  addExamples(program)
  return program
}
