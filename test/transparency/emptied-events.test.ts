import { join } from 'node:path'
import t from 'tap'
import { vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { auditWholeLog } from '../../services/notary/audit-log.ts'
import { ikw, settingsOf } from '../support/cli.ts'
import { makeHistory } from '../support/verifying/history.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { allSigned } from '../support/verifying/signed-backup.ts'

/** Events of a month that is over can be closed. */
const behindMs = Date.now() - Date.parse('2026-01-31T20:00:00.000Z')
const service = await startService(t, {}, { clock: () => new Date(Date.now() - behindMs) })
const settings = settingsOf(service)
await makeHistory(service)
const closed = await ikw(settings, 'period', 'close', '2026-01', '--sandbox')
if (closed.code !== 0) throw new Error(closed.stderr)
await allSigned(service)
const { postgres, dependencies, asStored: stored } = service.service.runtime
const { pool } = postgres
const { store, vault, clock: now } = dependencies
const directory = temporaryDirectory(t)

async function audited(): Promise<readonly string[]> {
  const verifierKeys = () => vouchedKeys({ pool, vault })
  const parts = { pool, stored, store, now, witnesses: [], verifierKeys }
  const { signal } = new AbortController()
  return (await auditWholeLog(parts, { share: 1, signal })).problems
}

for (const type of ['PeriodClosed', 'EntryPosted']) {
  t.test(`an event ${type} that somebody has emptied is named by whoever audits`, async (t) => {
    const newest = 'select position, data from events where type = $1 order by position desc limit 1'
    const { rows } = await pool.query<{ position: string; data: object }>(newest, [type])
    const { position, data } = rows[0]!
    const update = 'update events set data = $2 where position = $1'
    await pool.query(update, [position, 'null'])
    try {
      t.match(await audited(), [new RegExp(`\\(${type}, `)])
      const verified = await ikw(settings, 'ledger', 'verify')
      t.equal(verified.code, 1, verified.stderr)
      const place = join(directory, type)
      await ikw(settings, 'backup', place)
      t.match(await ikw({}, 'audit', 'verify', place), { code: 2, stderr: /line \d+ of \S+ is no event/ })
    } finally {
      await pool.query(update, [position, JSON.stringify(data)])
    }
  })
}
