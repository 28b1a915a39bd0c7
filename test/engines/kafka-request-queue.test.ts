import t from 'tap'
import { openBrokers } from '../../infra/event-bus/kafka.ts'
import { testBroker } from '../support/event-store/kafka.ts'

t.test('nothing waits for a time in the past, of which newer Node.js warns', async (t) => {
  const timeouts = t.capture(globalThis, 'setTimeout', setTimeout)
  const brokers = await openBrokers({ clientId: 'test', brokers: [await testBroker()] })
  await brokers.admin.listTopics()
  await brokers.close()
  const delays = timeouts().map(({ args: [, delayMs] }) => Number(delayMs))
  t.ok(delays.length > 0)
  t.same(
    delays.filter((delayMs) => delayMs < 0),
    [],
  )
})
