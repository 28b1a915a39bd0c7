import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { startService } from '../../services/all-in-one/start.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

for (const setting of ['PORT', 'HEALTH_PORT']) {
  t.test(`a ${setting} that another program has is what the start says`, async (t) => {
    const { url: POSTGRES_URL } = await testDatabase(t)
    const other = createServer().listen(0)
    await once(other, 'listening')
    t.teardown(() => other.close())
    const { port } = other.address() as AddressInfo
    const free = { PORT: '0', HEALTH_PORT: '0', LOG_LEVEL: 'silent' }
    const given = { POSTGRES_URL, DATA_DIR: temporaryDirectory(t), ...free, [setting]: String(port) }
    const says = new RegExp(`^port ${port} is in use: set ${setting} to another one$`)
    await t.rejects(startService(readConfiguration(given)), { message: says })
  })
}
