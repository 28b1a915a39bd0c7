import t from 'tap'
import { openEventStoreDb as openStore } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import { newCategory, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import { untilItWorks } from '../support/event-store/eventstoredb.ts'
import { openEventStoreDb } from './engines.ts'

const turns = 3

t.test('each change of the leader sends everybody there, and back again', async (t) => {
  const engine = await openEventStoreDb(t)
  const [writer, reader] = await Promise.all([openStore(engine), openStore(engine)])
  t.teardown(() => Promise.all([writer.close(), reader.close()]))
  const stream = newStream(newCategory())
  await writer.append(stream, noStream, newEvents(1))
  let isAtWork = true
  const write = async () => {
    while (isAtWork) await untilItWorks(() => writer.append(newStream(newCategory()), noStream, newEvents(1)))
  }
  const working = write()
  t.teardown(() => (isAtWork = false))
  for (let turn = 1; turn <= turns; turn++) {
    const before = engine.callsElsewhere()
    await Promise.all([engine.changeLeader(), untilItWorks(() => reader.readStream(stream, 0))])
    t.ok(engine.callsElsewhere() > before, `turn ${turn}: some were sent there`)
    await untilItWorks(() => reader.readStream(stream, 0))
    const elsewhere = engine.callsElsewhere()
    await reader.readStream(stream, 0)
    await writer.append(newStream(newCategory()), noStream, newEvents(1)).catch(() => undefined)
    t.equal(engine.callsElsewhere(), elsewhere, `turn ${turn}: nobody stayed there`)
  }
  isAtWork = false
  await working
})
