import t from 'tap'
import { derivedId } from '../../packages/contract/identity.ts'
import {
  openQuantity,
  usageMeter,
  type UsageMeter,
  type UsageMeterCommands,
  type UsageMeterEvents,
} from '../../packages/domain/usage/usage-meter.ts'
import { decide, evolve, type Message } from '../../packages/kernel/decider.ts'
import { fc } from '../support/properties.ts'
import { context, scenarios, stampOf } from '../support/scenarios.ts'

const record = derivedId(context.id, 'record 1')
const counted = (period: number, quantity = 4, position = 10): Message<UsageMeterEvents> => {
  return { type: 'UsageCounted', data: { record, quantity, period, position, isByPolicy: false } }
}
const closed = (period: number, quantity: number): Message<UsageMeterEvents> => {
  return { type: 'UsagePeriodClosed', data: { period, quantity } }
}
const count = (period: number) =>
  ({ type: 'CountUsage', data: { record, quantity: 4, period, position: 10 } }) as const
const close = (period: number, most = 1_000) => ({ type: 'ClosePeriod', data: { period, most } }) as const

const whose = { subscription: context.id, meterKey: 'sms' }
const end = { type: 'EndMeter', data: whose } as const
const ended = (quantity: number, ending: number): Message<UsageMeterEvents> => {
  return { type: 'UsageMeterEnded', data: { ...whose, quantity, ending } }
}

scenarios(usageMeter, {
  'use is counted in its period': { when: count(1), then: [counted(1)] },
  'use of a period that is billed already is billed with the next one': {
    given: [closed(1, 0)],
    when: count(1),
    then: [counted(2)],
  },
  'what was used before the first period that is paid for is free': { when: count(0), then: [] },
  'however late it is told': { given: [closed(0, 0)], when: count(0), then: [] },
  'also after the end': { given: [closed(1, 0), ended(0, 1)], when: count(0), then: [] },
  'a period is closed with what was used in it': {
    given: [counted(1), counted(2, 9, 20)],
    when: close(1),
    then: [closed(1, 4)],
  },
  'what is left of earlier periods is billed as well': {
    given: [counted(0), counted(2, 9, 20)],
    when: close(2),
    then: [closed(2, 13)],
  },
  'a period in which nothing was used is closed too': { when: close(1), then: [closed(1, 0)] },
  'what is more than one invoice can ask for is left to the next one': {
    given: [counted(1, 9), counted(2, 5, 20), closed(1, 4)],
    when: close(2, 100),
    then: [closed(2, 10)],
  },
  'no more is billed than one invoice can ask for': {
    given: [counted(1, 9)],
    when: close(1, 4),
    then: [closed(1, 4)],
  },
  'what no period has billed is left when its subscription is canceled': {
    given: [counted(1, 9), closed(1, 4)],
    when: end,
    then: [ended(5, 1)],
  },
  'it ends once': { given: [ended(0, 1)], when: end, then: [] },
  'use that is told after that ends it again': {
    given: [closed(1, 0), ended(0, 1)],
    when: count(1),
    then: [counted(2), ended(4, 2)],
  },
  'a period is closed once': { given: [counted(1), closed(1, 4)], when: close(1), then: [] },
})

const step = fc.oneof(
  fc.record({ count: fc.nat({ max: 9 }), isByPolicy: fc.constant(false) }),
  fc.constant('end' as const),
  fc.record({ close: fc.integer({ min: 1, max: 4 }), most: fc.constantFrom(1, 100, 2 ** 41) }),
)

t.test('in whatever order it is told, and however often, all use is billed once', async (t) => {
  const quantityOf = (place: number) => 2 ** place
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let state: UsageMeter = usageMeter.initial()
      let billed = 0
      const send = (command: Message<UsageMeterCommands>, position?: number) => {
        const cause = position === undefined ? {} : { cause: { policy: 'usage_metering', position } }
        for (const event of decide(usageMeter, command, state, { ...context, ...cause })) {
          if (event.type !== 'UsageCounted') billed += event.data.quantity
          state = evolve(usageMeter, state, event, stampOf(context))
        }
      }
      const tell = (place: number, isByPolicy: boolean) => {
        const [record, position] = [derivedId(context.id, `record ${place}`), 10 * (place + 1)]
        const data = { record, quantity: quantityOf(place), period: 1 + (place % 4), position }
        send({ type: 'CountUsage', data }, isByPolicy ? position : undefined)
      }
      for (const one of steps) {
        if (one === 'end') send(end)
        else if ('close' in one) send({ type: 'ClosePeriod', data: { period: one.close, most: one.most } })
        else tell(one.count, false)
      }
      for (let place = 0; place < 10; place++) tell(place, true)
      return billed + openQuantity(state) === 2 ** 10 - 1
    }),
  )
  t.pass()
})
