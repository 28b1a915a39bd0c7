import t from 'tap'
import { derivedId } from '../../packages/contract/identity.ts'
import { invoiceNumbers, type InvoiceNumbers } from '../../packages/domain/invoices/numbers.ts'
import { decide, evolve } from '../../packages/kernel/decider.ts'
import { aheadMax } from '../../packages/kernel/execution/taken-once.ts'
import { fc } from '../support/properties.ts'
import { context, stampOf } from '../support/scenarios.ts'

const invoiceOf = (position: number) => derivedId(context.merchant, `invoice ${position}`)

/** Takes the number of the invoice that was issued there; answers the sequence and the number, if any. */
function assign(state: InvoiceNumbers, position: number, isByPolicy: boolean) {
  const command = { type: 'AssignNumber', data: { invoice: invoiceOf(position), position } } as const
  const cause = isByPolicy ? { cause: { policy: 'invoice_numbers', position } } : {}
  const [event] = decide(invoiceNumbers, command, state, { ...context, ...cause })
  if (!event) return { state, number: undefined }
  return { state: evolve(invoiceNumbers, state, event, stampOf(context)), number: event.data.number }
}

const step = fc.record({ isByPolicy: fc.boolean(), place: fc.nat({ max: 11 }) })

t.test(
  'however often it is asked by policy and requests, each invoice has one number, without gaps',
  async (t) => {
    const positions = Array.from({ length: 12 }, (_, index) => 10 * (index + 1))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const numbers = new Map<number, number>()
        let state = invoiceNumbers.initial()
        let reached = 0
        const take = (position: number, isByPolicy: boolean) => {
          const taken = assign(state, position, isByPolicy)
          state = taken.state
          if (taken.number === undefined) return
          if (numbers.has(position)) throw new Error(`${position} has a second number`)
          numbers.set(position, taken.number)
        }
        // A policy may repeat what it has done since its checkpoint, but leaves nothing out.
        for (const { isByPolicy, place } of steps) {
          if (!isByPolicy) take(positions[place]!, false)
          else if (place <= reached)
            for (let at = place; at <= reached && at < 12; at++) take(positions[at]!, true)
          if (isByPolicy && place <= reached) reached = Math.min(reached + 1, 11)
        }
        for (const position of positions) take(position, true)
        const given = [...numbers.values()].sort((one, other) => one - other)
        return JSON.stringify(given) === JSON.stringify(positions.map((_, index) => index + 1))
      }),
    )
    t.pass()
  },
)

t.test('requests go ahead of the policy only so far', async (t) => {
  let state = invoiceNumbers.initial()
  for (let position = 1; position <= aheadMax; position++) state = assign(state, position, false).state
  t.equal(assign(state, aheadMax + 1, false).number, undefined, 'the policy assigns it a moment later')
  const later = assign(state, aheadMax + 1, true)
  t.equal(later.number, aheadMax + 1)
  t.strictSame(later.state.taken, { through: aheadMax + 1, ahead: {} }, 'and nothing of them is remembered')
})
