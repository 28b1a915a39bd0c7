import t from 'tap'
import { listQuery } from '../../packages/contract/lists/query.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import type { TSchema } from '../../packages/contract/vocabulary.ts'
import { routes } from '../../services/families.ts'
import { lawOver } from '../support/law.ts'
import { unknownSample } from '../support/samples.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import type { Answer, TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startServiceWithGoogle(t)
})

interface Parameter {
  readonly route: AnyRoute
  readonly name: string
  readonly schema: TSchema
}

/** Every query parameter of the table. */
const parameters: readonly Parameter[] = routes.flatMap((route) => {
  const query = route.kind === 'list' ? listQuery(route) : route.query
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({ route, name, schema }))
})

function ask({ route, name }: Parameter, value: string): Promise<Answer> {
  const { path, body } = unknownSample(route)
  return service.call(partsOf(route).method, `${path}?${name}=${encodeURIComponent(value)}`, body)
}

const neverTimes = [
  '2026-02-01T23:59:60Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-00:01',
  '2026-02-30T00:00:00Z',
  '2026-02-01T24:00:00Z',
  '2026-02-01T00:00:00+2359',
  '2026-02-01T00:00:00+24:00',
  '2026-02-01T00:00:00',
  '2026-02-01 00:00:00Z',
  '2026-02-01',
  '+002026-02-01T00:00:00Z',
  'now',
  '1767225600',
]
const times = [
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '2026-02-01t00:00:00z',
  '2026-02-01T00:00:00.123456789Z',
  '2026-02-01T00:00:00+23:59',
  '2026-02-01T00:00:00-16:00',
  '2024-02-29T12:00:00Z',
]

t.test('a time that no calendar has is refused by name, and any other is understood', async (t) => {
  const timed = parameters.filter(({ schema }) => schema['format'] === 'date-time')
  await lawOver(t, timed, async (parameter) => {
    const where = `${parameter.route.operation} ${parameter.name}`
    for (const value of neverTimes) {
      const expected = { status: 400, body: { code: 'IKW-REQ-001', param: `query:/${parameter.name}` } }
      t.match(await ask(parameter, value), expected, `${where} ${value}`)
    }
    for (const value of times) t.equal((await ask(parameter, value)).status, 200, `${where} ${value}`)
  })
})

const neverIntegers = [
  '0x5',
  '1e1',
  ' 5',
  '5 ',
  '+5',
  '05',
  '5.0',
  '',
  '٥',
  '-0',
  '5,0',
  '1_0',
  'NaN',
  '9'.repeat(30),
]

t.test('a number is written in one way', async (t) => {
  const numbers = parameters.filter(({ schema }) => schema['type'] === 'integer')
  await lawOver(t, numbers, async (parameter) => {
    for (const value of neverIntegers) {
      const expected = { status: 400, body: { code: 'IKW-REQ-001', param: `query:/${parameter.name}` } }
      t.match(
        await ask(parameter, value),
        expected,
        `${parameter.route.operation} ${parameter.name}=${value}`,
      )
    }
    t.not((await ask(parameter, '5')).status, 400, parameter.route.operation)
  })
})

t.test('a path is spelled as the table spells it', async (t) => {
  await lawOver(t, routes, async (route) => {
    const { path, body } = unknownSample(route)
    const [, first = '', second = '', ...rest] = path.split('/')
    const shouted = `/${[first.toUpperCase(), second.toUpperCase(), ...rest].join('/')}`
    t.match(await service.call(partsOf(route).method, shouted, body), { status: 404 }, shouted)
  })
})

const intent = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }

t.test('a number that a parser would round is refused, and one that it keeps is taken', async (t) => {
  const withAmount = (amount: string) => `{"amount":${amount},"currency":"XOF","transaction_country":"SN"}`
  const rounded = [
    '4999.9999999999999999',
    '9007199254740993',
    '1e999',
    '5000.00000000000000001',
    `5${'0'.repeat(120)}`,
  ]
  for (const amount of rounded) {
    const answer = await service.post('/api/v1/payment-intents', withAmount(amount))
    t.match(answer, { status: 400, body: { code: 'IKW-REQ-001' } }, amount)
  }
  for (const amount of ['5000', '5000.0', '5e3', '0.5e4', '50000E-1'])
    t.match(await service.post('/api/v1/payment-intents', withAmount(amount)), { status: 201 }, amount)
})

t.test('what is in no table is refused by name', async (t) => {
  const cases = [
    ['/api/v1/payment-intents', { ...intent, payer_country: 'ZZ' }, '/payer_country'],
    ['/api/v1/payment-intents', { ...intent, rail_country: 'XX' }, '/rail_country'],
    ['/api/v1/fees/quote', { amount: 5_000, currency: 'XOF', country: 'ZZ' }, '/country'],
    [
      '/api/test/payouts/callback',
      { payout_id: 'po_', status: 'failed', failure_code: 'nope' },
      '/failure_code',
    ],
  ] as const
  for (const [path, body, pointer] of cases) {
    const { status, body: problem } = await service.post(path, body)
    const pointers = (problem['errors'] as { pointer: string }[]).map((one) => one.pointer)
    t.match([status, pointers.includes(pointer)], [400, true], pointer)
  }
  const currencies = parameters.filter(({ name }) => /currency$/i.test(name))
  await lawOver(t, currencies, async (parameter) => {
    const expected = { status: 400, body: { param: `query:/${parameter.name}` } }
    t.match(await ask(parameter, 'ZZZ'), expected, parameter.route.operation)
  })
  const endpoint = { url: 'https://example.com:0/', enabled_events: ['payout.failed'] }
  t.equal((await service.post('/api/v1/webhook-endpoints', endpoint)).status, 400)
})

t.test('the environment is named in any case, and only one that exists', async (t) => {
  const named = (value: string) => service.get('/api/v1/balance', { headers: { 'ikw-environment': value } })
  for (const value of ['sandbox', 'Sandbox', 'SANDBOX']) t.equal((await named(value)).status, 200, value)
  t.match(await named('Live'), { status: 403, body: { code: 'IKW-AUTHZ-002' } })
  t.match(await named('test'), {
    status: 400,
    body: { code: 'IKW-REQ-001', param: 'header:Ikw-Environment' },
  })
})
