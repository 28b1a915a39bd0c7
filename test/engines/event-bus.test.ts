import t from 'tap'
import { InProcessBus } from '../../infra/event-bus/in-process.ts'
import { eventBusSuite } from '../support/event-store/event-bus-suite.ts'

eventBusSuite(t, {
  open: async (t) => {
    const bus = new InProcessBus()
    t.teardown(() => bus.close())
    return bus
  },
})
