import { randomUUID } from 'node:crypto'
import t from 'tap'
import { credentialsOf } from '../../packages/contract/access/callers.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import type { TSchema } from '../../packages/contract/vocabulary.ts'
import { routes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'
import { sample, unknownSample } from '../support/samples.ts'
import { startService, type TestService } from '../support/service.ts'

const payouts = '/api/v1/payouts'
const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const payout = { amount: 5_000, currency: 'XOF', destination }

let service: TestService

t.before(async () => {
  service = await startService(t)
})

t.test('a fault says what came, what was expected, and what may have been meant', async (t) => {
  const cases = [
    [{ ...payout, amount: '5000' }, '/amount', 'must be a whole number, not the text "5000"'],
    [{ ...payout, amount: 0 }, '/amount', 'must be at least 1, not 0'],
    [{ ...payout, amount: undefined }, '/amount', 'is required'],
    [{ ...payout, metadata: 'none' }, '/metadata', 'must be an object, not a text'],
    [{ ...payout, payout_method_id: 7 }, '/payout_method_id', 'must be a text or null, not 7'],
    [{ ...payout, curency: 'XOF' }, '/curency', 'is not known here; did you mean "currency"?'],
    [{ ...payout, colour: 'red' }, '/colour', 'is not known here'],
    [{ ...payout, currency: 'francs' }, '/currency', 'must be a three-letter ISO 4217 code, such as XOF'],
    [
      { ...payout, destination: { ...destination, msisdn: '77' } },
      '/destination/msisdn',
      'must be a number in international format, such as +2250700000001',
    ],
  ] as const
  for (const [body, param, message] of cases) {
    const answer = await service.post(payouts, body)
    t.match(answer, { status: 400, body: { code: 'IKW-REQ-001', param } }, param)
    const faults = answer.body['errors'] as readonly { message: string }[]
    t.strictSame(
      faults.map((fault) => fault.message),
      [message],
    )
  }
})

t.test('an object is refused where one of some words is expected, whatever it holds', async (t) => {
  const quote = { amount: 1, currency: 'XOF', payment_method_type: { toString: '' } }
  t.match(await service.post('/api/v1/fees/quote', quote), {
    status: 400,
    body: { code: 'IKW-REQ-001', param: '/payment_method_type' },
  })
})

t.test('a problem leads to the page about its code', async (t) => {
  const { body } = await service.get(`${payouts}/po_00000000000000000000000000000001`)
  t.match(body, { detail: 'No payout po_00000000000000000000000000000001' })
  const { pathname, hash } = new URL(String(body['type']))
  t.strictSame([pathname, hash], ['/docs/errors', '#IKW-RES-001'])
})

t.test('a balance that does not cover says what it has and what is needed', async (t) => {
  const answer = await service.post(payouts, { ...payout, amount: 1_999_000 })
  t.match(answer, { status: 402, body: { code: 'IKW-PAYOUT-003' } })
  const detail =
    /^Balance has 1,000,000 XOF available; this payout needs [\d,]+ \(1,999,000 and a fee of [\d,]+\)$/
  t.match(answer.body['detail'], detail)
})

t.test('a missing, a malformed and an unknown credential are three sentences', async (t) => {
  const said = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization }
    const { body } = await service.get<{ detail: string }>('/api/v1/balance', { key: '', headers })
    return body.detail
  }
  t.match(await said(), /^No credential/)
  t.match(await said('Bearer nonsense'), /^Authorization must be/)
  t.match(await said(`Bearer ik_test_${'a'.repeat(43)}`), /^No such credential/)
})

t.test('a body of another type is 415', async (t) => {
  const headers = { 'content-type': 'text/xml' }
  t.match(await service.post(payouts, payout, { headers }), {
    status: 415,
    body: { code: 'IKW-REQ-012', detail: 'Content-Type is text/xml, but must be application/json' },
  })
})

t.test('a card token that does not exist fails', async (t) => {
  const intent = { amount: 5_000, currency: 'XOF', transaction_country: 'CI' }
  const { body } = await service.post('/api/v1/payment-intents', intent)
  const payment_method = { type: 'card', card: { token: 'tok_nope' } }
  t.match(await service.post(`/api/v1/payment-intents/${String(body['id'])}/confirm`, { payment_method }), {
    body: { status: 'failed', failure_code: 'card_declined' },
  })
})

/** Every field of a body, however deep, as a JSON pointer. */
function pointersOf(schema: TSchema | undefined, above = ''): readonly string[] {
  const fields = Object.entries((schema?.['properties'] ?? {}) as Record<string, TSchema>)
  return fields.flatMap(([name, field]) => [`${above}/${name}`, ...pointersOf(field, `${above}/${name}`)])
}

/** The body of a request in which this field alone is another one than in the example. */
function changed(body: unknown, [name = '', ...rest]: readonly string[], value: unknown): object {
  const fields = (body ?? {}) as Record<string, unknown>
  return { ...fields, [name]: rest.length > 0 ? changed(fields[name], rest, value) : value }
}

const fieldsLike = (name: RegExp) =>
  routes.flatMap((route) =>
    pointersOf(route.body)
      .filter((pointer) => name.test(pointer))
      .map((pointer) => ({ route, pointer })),
  )

t.test('a name is one line with something in it to see, wherever one is given', (t) =>
  lawOver(t, fieldsLike(/(_|\/|nick)name$|Name$/), async ({ route, pointer }) => {
    for (const name of ['', '\u200b', 'Awa\nDiop', '\u202eawA'])
      t.ok((await faultsOf(route, pointer, name)).includes(pointer), `${route.operation} ${pointer} ${name}`)
  }),
)

t.test('a currency that nobody pays with is refused, wherever one is given', (t) =>
  lawOver(t, fieldsLike(/currency(Iso)?$/i), async ({ route, pointer }) => {
    for (const code of ['ZZZ', 'XXX', 'XAU', 'xts'])
      t.ok((await faultsOf(route, pointer, code)).includes(pointer), `${route.operation} ${pointer} ${code}`)
  }),
)

/** Where the body is not valid with this value of this field. */
async function faultsOf(route: AnyRoute, pointer: string, value: string): Promise<readonly string[]> {
  const { path, body } = unknownSample(route)
  const sent = changed(body, pointer.slice(1).split('/'), value)
  const answer = await service.call(partsOf(route).method, path, sent)
  if (answer.body['code'] !== 'IKW-REQ-001') return []
  return (answer.body['errors'] as readonly { readonly pointer: string }[]).map((one) => one.pointer)
}

t.test('a bank account has letters and digits', async (t) => {
  const bank = { type: 'bank', bank_code: 'SN010', account_number: '0012345678', account_name: 'Awa Diop' }
  await lawOver(t, ['bank_code', 'account_number'], async (field) => {
    await lawOver(t, ['💸💸💸', '٤٥٦٧٨٩', '-1', ' 1', '12\n34'], async (value) => {
      const answer = await service.post(payouts, { ...payout, destination: { ...bank, [field]: value } })
      t.match(answer, { status: 400, body: { param: `/destination/${field}` } }, `${field} ${value}`)
    })
  })
  const iban = { ...bank, account_number: 'SN08 SN01 0015 2000 0485 0000 3035' }
  t.match(await service.post(payouts, { ...payout, destination: iban }), { status: 201 })
})

/** Fields of bodies that name what must be there; an external id is the merchant's own. */
const naming = routes
  .filter((route) => credentialsOf(route).includes('api_key'))
  .flatMap((route) => {
    const fields = Object.keys((route.body?.['properties'] ?? {}) as object)
    return fields
      .filter((name) => /^(?!external).*(_id|Id)$|^customer$/.test(name))
      .map((field) => ({ route, field }))
  })

t.test('an id in a body that names nothing is refused by its field', (t) =>
  lawOver(t, naming, async ({ route, field }) => {
    const { path, body } = await sample(service, route)
    const { destination: _, ...rest } = body as Record<string, unknown>
    const answer = await service.call(partsOf(route).method, path, { ...rest, [field]: randomUUID() })
    const refused = `${route.operation} ${field}: ${JSON.stringify(answer.body)}`
    t.match(answer, { body: { param: `/${field}`, errors: [{ pointer: `/${field}` }] } }, refused)
    t.ok([400, 404].includes(answer.status), refused)
    t.not(answer.body['code'], 'IKW-REQ-001', refused)
  }),
)
