import t from 'tap'
import { gatheringMs } from '../../infra/event-store/rest.ts'
import { fc } from '../support/properties.ts'

t.test(
  'however much and however patiently a consumer gathers, it is no second behind for that',
  async (t) => {
    const wanted = fc.record({ events: fc.nat(100_000), everyMs: fc.integer({ min: 1, max: 60_000 }) })
    const gathers = ({ events, everyMs }: { readonly events: number; readonly everyMs: number }) => {
      const ms = gatheringMs(events, everyMs)
      return ms <= 500 && ms >= Math.min(everyMs, 500)
    }
    t.doesNotThrow(() => fc.assert(fc.property(wanted, gathers)))
  },
)
