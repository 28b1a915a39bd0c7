import { randomUUID } from 'node:crypto'
import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import {
  contactName,
  customer,
  guessableContactId,
  type CustomerCommands,
} from '../../packages/domain/customers/customer.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const order = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }

let numbers = 0
const contacts = () => ({
  customer_email: `${randomUUID()}@example.com`,
  customer_phone: `+22177${String(1_000_000 + numbers++)}`,
})

async function customerOf(contact: Body): Promise<string> {
  const { status, body } = await service.post('/api/v1/payment-intents', { ...order, ...contact })
  t.equal(status, 201, JSON.stringify(body))
  return String(body['customer'])
}

async function shown(id: string): Promise<Body> {
  return (await service.get(`/api/v1/merchant/customers/${id}`)).body
}

/** All orders of three things. */
const orders = [
  [0, 1, 2],
  [1, 0, 2],
  [2, 1, 0],
  [0, 2, 1],
] as const

t.test('intents at once that share a contact name one customer, who exists', async (t) => {
  const pairs = Array.from({ length: 40 }, (_, index) => ({ ...contacts(), index }))
  await Promise.all(
    pairs.map(async ({ customer_email, customer_phone, index }) => {
      const ways = [
        { customer_email, customer_phone },
        { customer_phone },
        { customer_email, customer_phone },
      ]
      const named = await Promise.all(orders[index % 4]!.map((way) => customerOf(ways[way]!)))
      t.equal(new Set(named).size, 1, 'one customer')
      t.match(await shown(named[0]!), { object: 'customer', phone: customer_phone })
    }),
  )
})

t.test('who is met by the address and by the number at once is found by both', async (t) => {
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { customer_email, customer_phone } = contacts()
      const ways = [{ customer_email }, { customer_email, customer_phone }, { customer_phone }]
      const named = await Promise.all(ways.map(customerOf))
      await lawOver(t, named, async (id) => {
        t.match(await shown(id), { object: 'customer', id })
      })
    }),
  )
})

const ownerOf = () => ({ merchant: service.service.credentials.merchant_id, livemode: false })

/** What this version, and what an earlier one, makes of a contact. */
const idsOf: Readonly<Record<string, (contact: string) => Promise<string>>> = {
  'this version': (contact) =>
    service.service.runtime.dependencies.blindIndex(contactName(ownerOf(), contact)),
  'an earlier version': async (contact) => guessableContactId(ownerOf(), contact),
}

async function send(id: string, command: Message<CustomerCommands>): Promise<void> {
  const envelope = { ...ownerOf(), actor: 'test', correlation: 'test' }
  await service.service.runtime.dependencies.executor.send(customer, id, command, envelope)
}

t.test('what a crash left between two contacts is finished by whoever comes next', async (t) => {
  const idOf = idsOf['this version']!
  for (const way of ['customer_phone', 'customer_email'] as const) {
    const contact = contacts()
    const byEmail = await idOf(contact.customer_email)
    await send(await idOf(contact.customer_phone), { type: 'LinkContact', data: { customer: byEmail } })
    const id = await customerOf({ [way]: contact[way] })
    t.equal(identity(id, 'cus'), byEmail)
    t.equal(await customerOf(contact), id)
    t.match(await shown(id), { object: 'customer', id })
  }
})

t.test('the id of a customer cannot be computed from a contact', async (t) => {
  const { customer_email } = contacts()
  const id = await customerOf({ customer_email })
  t.not(identity(id, 'cus'), guessableContactId(ownerOf(), customer_email))
  t.equal(await customerOf({ customer_email: customer_email.toUpperCase() }), id)
})

t.test('a customer of an earlier version is found by each contact, and by new ones', async (t) => {
  const idOf = idsOf['an earlier version']!
  const { customer_email, customer_phone } = contacts()
  const known = await idOf(customer_email)
  const data = { email: customer_email, phone: null, currency: 'XOF' }
  await send(known, { type: 'CreateCustomer', data })
  const id = await customerOf({ customer_email })
  t.equal(identity(id, 'cus'), known)
  t.equal(await customerOf({ customer_phone, customer_email }), id)

  const other = contacts()
  const first = await idOf(other.customer_email)
  await send(await idOf(other.customer_phone), { type: 'LinkContact', data: { customer: first } })
  await send(first, { type: 'CreateCustomer', data: { ...data, email: other.customer_email } })
  t.equal(identity(await customerOf({ customer_phone: other.customer_phone }), 'cus'), first)
  const both = { customer_email: contacts().customer_email, customer_phone: other.customer_phone }
  t.equal(identity(await customerOf(both), 'cus'), first, 'a new address leads to who has the number')
  t.equal(identity(await customerOf({ customer_email: both.customer_email }), 'cus'), first)
})

t.test('an address that comes later is added to a customer who has none', async (t) => {
  const { customer_email, customer_phone } = contacts()
  const id = await customerOf({ customer_phone })
  t.match(await shown(id), { email: null, phone: customer_phone })
  t.equal(await customerOf({ customer_email, customer_phone }), id)
  t.equal(await customerOf({ customer_email }), id)
  t.match(await shown(id), { email: customer_email, phone: customer_phone })
})

t.test('a customer whose only contact led to itself is one again', async (t) => {
  await lawOver(t, Object.entries(idsOf), async ([version, idOf]) => {
    const { customer_email } = contacts()
    const id = await idOf(customer_email)
    await send(id, { type: 'LinkContact', data: { customer: id } })
    const named = await customerOf({ customer_email })
    t.equal(identity(named, 'cus'), id, version)
    t.match(await shown(named), { object: 'customer', email: customer_email })
  })
})
