import { readConfiguration } from '../../../infra/configuration.ts'
import { openLog } from '../../../services/composition/observing/log.ts'

/** Logs what a test expects to read, and is killed meanwhile. */
const log = await openLog(readConfiguration())
log.info({ payout: 'po_1' }, 'something small')
log.warn({ msisdn: '+221770000001', destination: { msisdn: '+221770000001' } }, 'something urgent')
log.info({}, 'never written')
process.kill(process.pid, 'SIGKILL')
