import t from 'tap'
import { dayOf, monthOf } from '../../packages/kernel/time/calendar.ts'
import { timeZoneOf } from '../../packages/contract/locale/time-zones.ts'

t.test('days and months are those of the place', (t) => {
  t.same(monthOf('2026-10', timeZoneOf('SN')), {
    from: '2026-10-01T00:00:00.000Z',
    to: '2026-11-01T00:00:00.000Z',
  })
  t.same(monthOf('2026-12', timeZoneOf('CM')), {
    from: '2026-11-30T23:00:00.000Z',
    to: '2026-12-31T23:00:00.000Z',
  })
  t.same(dayOf('2026-02-28', timeZoneOf('CV')), {
    from: '2026-02-28T01:00:00.000Z',
    to: '2026-03-01T01:00:00.000Z',
  })
  // Where clocks change, a day is longer or shorter.
  t.same(dayOf('2026-03-29', 'Europe/Paris'), {
    from: '2026-03-28T23:00:00.000Z',
    to: '2026-03-29T22:00:00.000Z',
  })
  t.same(monthOf('2026-10', timeZoneOf('FR')), monthOf('2026-10', 'UTC'))
  t.end()
})

t.test('what is no day, month or zone throws', (t) => {
  for (const nonsense of [
    () => dayOf('2026-02-30', 'UTC'),
    () => monthOf('2026-13', 'UTC'),
    () => dayOf('2026-02-01', 'Mars'),
    // What begins in the year 10000 would be before all others, as a text.
    () => monthOf('9999-12', 'UTC'),
    () => dayOf('9999-12-31', 'Africa/Dakar'),
    () => monthOf('0000-01', timeZoneOf('CM')),
  ])
    t.throws(nonsense, RangeError)
  t.end()
})
