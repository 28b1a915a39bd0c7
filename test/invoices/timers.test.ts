import t from 'tap'
import { invoiceEvents, type InvoiceEvents } from '../../packages/domain/invoices/events.ts'
import { invoiceTimers } from '../../packages/domain/invoices/timers.ts'
import { upcast } from '../../packages/kernel/event-types.ts'
import type { Change } from '../../packages/kernel/projection.ts'

const id = '0190a1b2-0000-7000-8000-0000000000a1'
const metadata = { merchant: '0190a1b2-0000-7000-8000-0000000000b1', livemode: false }

/** What an event starts and stops, by the kind of timer. */
function after(type: keyof InvoiceEvents, data: object): Readonly<Record<string, unknown>> {
  const changes = invoiceTimers[type]!({ id, data, metadata } as never)
  return Object.fromEntries(changes.map(kindOf))
}

function kindOf(change: Change): readonly [string, unknown] {
  if ('put' in change) return [String(change.put['kind']), change.put['due_at']]
  const [kind] = String('remove' in change && change.remove['id']).split(':')
  return [kind!, null]
}

const late = {
  subscription: null,
  unpaidAt: '2026-02-20T23:00:00.000Z',
  remindAt: '2026-02-03T08:00:00.000Z',
}

t.test('as long as nobody is late, an invoice has one timer', async (t) => {
  const issued = { dueDate: '2026-01-31', timeZone: 'Africa/Lagos' }
  t.same(after('InvoiceIssued', issued), { invoice_overdue: '2026-01-31T23:00:00.000Z' })
  t.same(after('InvoiceBecameOverdue', late), {
    invoice_overdue: null,
    invoice_reminder: '2026-02-03T08:00:00.000Z',
  })
})

t.test('where no reminder follows any more, none is started', async (t) => {
  t.same(after('InvoiceBecameOverdue', { ...late, remindAt: null }), { invoice_overdue: null })
})

t.test('whoever was late before the event said when to remind is reminded at the same time', async (t) => {
  const { remindAt, ...first } = late
  t.same(upcast(invoiceEvents.InvoiceBecameOverdue, 1, first), { ...first, remindAt })
})
