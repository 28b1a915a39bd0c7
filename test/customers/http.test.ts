import { randomUUID } from 'node:crypto'
import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { customer, customerIdOf } from '../../packages/domain/customers/customer.ts'
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

t.test('what a crash left between two contacts is finished by whoever comes next', async (t) => {
  for (const way of ['customer_phone', 'customer_email'] as const) {
    const contact = contacts()
    const owner = { merchant: service.service.credentials.merchant_id, livemode: false }
    const byEmail = customerIdOf(owner, contact.customer_email)
    const byPhone = customerIdOf(owner, contact.customer_phone)
    const command = { type: 'LinkContact', data: { customer: byEmail } } as const
    const envelope = { ...owner, actor: 'test', correlation: 'test' }
    await service.service.runtime.dependencies.executor.send(customer, byPhone, command, envelope)
    const id = await customerOf({ [way]: contact[way] })
    t.equal(identity(id, 'cus'), byEmail)
    t.equal(await customerOf(contact), id)
    t.match(await shown(id), { object: 'customer', id })
  }
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
  const { customer_email } = contacts()
  const owner = { merchant: service.service.credentials.merchant_id, livemode: false }
  const id = customerIdOf(owner, customer_email)
  const command = { type: 'LinkContact', data: { customer: id } } as const
  const envelope = { ...owner, actor: 'test', correlation: 'test' }
  await service.service.runtime.dependencies.executor.send(customer, id, command, envelope)
  const named = await customerOf({ customer_email })
  t.equal(identity(named, 'cus'), id)
  t.match(await shown(named), { object: 'customer', email: customer_email })
})
