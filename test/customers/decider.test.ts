import t from 'tap'
import { contactName, customer, type CustomerEvents } from '../../packages/domain/customers/customer.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { context, scenarios } from '../support/scenarios.ts'

type Event = Message<CustomerEvents>

const contact = { email: 'awa@example.com', phone: null, currency: 'XOF' }
const other = '0190a1b2-0000-7000-8000-0000000000bb'
const created: Event = { type: 'CustomerCreated', data: contact }
const linked: Event = { type: 'CustomerContactLinked', data: { customer: other } }

scenarios(customer, {
  'a new contact makes a customer': { when: { type: 'CreateCustomer', data: contact }, then: [created] },
  'a known contact makes no other customer': {
    given: [created],
    when: { type: 'CreateCustomer', data: contact },
    then: [],
  },
  'a contact that was not known is added, and one that is known stays': {
    given: [created],
    when: { type: 'CreateCustomer', data: { ...contact, email: 'a@example.com', phone: '+221770000000' } },
    then: [
      {
        type: 'CustomerContactAdded',
        data: { email: null, phone: '+221770000000' },
      },
    ],
  },
  'a contact that was erased is added anew when it comes back': {
    given: [{ type: 'CustomerCreated', data: { ...contact, email: '[erased]' } }],
    when: { type: 'CreateCustomer', data: contact },
    then: [{ type: 'CustomerContactAdded', data: { email: contact.email, phone: null } }],
  },
  'contacts that lead in a circle make a customer': {
    given: [linked],
    when: { type: 'CreateCustomer', data: { ...contact, inCircle: true } },
    then: [created],
  },
  'a second contact is linked to the customer': {
    when: { type: 'LinkContact', data: { customer: other } },
    then: [linked],
  },
  'a contact that has a customer is not linked to another': {
    given: [created],
    when: { type: 'LinkContact', data: { customer: other } },
    then: [],
  },
  'a linked contact makes no customer': {
    given: [linked],
    when: { type: 'CreateCustomer', data: contact },
    then: [],
  },
})

t.test('the same address in another case is the same customer', async (t) => {
  t.equal(contactName(context, 'Awa@Example.com'), contactName(context, 'awa@example.com'))
})

t.test('merchants and environments do not share customers', async (t) => {
  const { merchant, livemode } = context
  const name = contactName(context, 'awa@example.com')
  t.not(contactName({ merchant, livemode: !livemode }, 'awa@example.com'), name)
  t.not(contactName({ merchant: other, livemode }, 'awa@example.com'), name)
})
