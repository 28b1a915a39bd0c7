import t from 'tap'
import { RailRegistry, type RailEntry } from '../../infra/rails/registry.ts'
import {
  RailMissingError,
  type PaymentRail,
  type RailCallback,
  type RailMethod,
} from '../../packages/kernel/ports/rails.ts'
import { card, mobile, request } from '../support/payments/sandbox-operators.ts'

/** A rail that answers with its name, and reports what the test says. */
class NamedRail implements PaymentRail {
  readonly #name: string
  report: (callback: RailCallback) => Promise<void> = async () => undefined

  constructor(name: string) {
    this.#name = name
  }

  submit = async () => ({ state: 'redirect', url: this.#name }) as const
  status = async () => ({ state: 'redirect', url: this.#name }) as const
  health = async () => 'degraded' as const
  onCallback = (handle: (callback: RailCallback) => Promise<void>) => {
    this.report = handle
    return { close: async () => undefined }
  }
}

const rails = {
  sandbox: new NamedRail('sandbox'),
  wave: new NamedRail('wave'),
  cards: new NamedRail('cards'),
}
const entries: readonly RailEntry[] = [
  { environments: ['sandbox'], rail: rails.sandbox },
  {
    environments: ['live'],
    methods: ['mobile_money'],
    countries: ['SN'],
    operators: ['wave'],
    rail: rails.wave,
  },
  { environments: ['live'], methods: ['card'], rail: rails.cards },
]
const registry = new RailRegistry(entries)

const abroad: RailMethod = { type: 'mobile_money', country: 'CI', operator: 'wave', msisdn: '+2250700000001' }

const routes: readonly [livemode: boolean, method: RailMethod, rail: string | undefined][] = [
  [false, mobile('0001', 'wave'), 'sandbox'],
  [false, card('tok_visa'), 'sandbox'],
  [true, mobile('0001', 'wave'), 'wave'],
  [true, mobile('0001', 'orange_money'), undefined],
  [true, abroad, undefined],
  [true, card('tok_visa'), 'cards'],
  [true, { type: 'bank', bankCode: 'SN012', accountNumber: '0800', accountName: 'Awa' }, undefined],
]

t.test('a rail is chosen by environment, country, method and operator', async (t) => {
  for (const [livemode, method, rail] of routes) {
    const asked = { ...request('disbursement', method), livemode }
    const name = `${livemode ? 'live' : 'sandbox'} ${JSON.stringify(method)}`
    if (rail === undefined) {
      await t.rejects(registry.submit(asked), RailMissingError, name)
      await t.rejects(registry.status(asked.reference, asked), RailMissingError, 'which is asked again')
      t.equal(await registry.health(asked), 'down')
    } else {
      t.match(await registry.submit(asked), { url: rail }, name)
      t.match(await registry.status(asked.reference, asked), { url: rail }, name)
      t.equal(await registry.health(asked), 'degraded')
    }
  }
})

t.test('a payer who has named no method yet is served if any rail of the country is', async (t) => {
  t.equal(registry.serves({ livemode: true, country: 'SN' }), true)
  t.equal(registry.serves({ livemode: true, method: 'bank' }), false)
  t.equal(new RailRegistry(entries.slice(0, 2)).serves({ livemode: true, country: 'CI' }), false)
})

t.test('a rail is not heard about an environment that it does not serve', async (t) => {
  const heard: string[] = []
  const subscription = registry.onCallback(async ({ reference }) => void heard.push(reference))
  const callback = { ...request('collection', card('tok_visa')), result: { state: 'succeeded' } } as const
  await rails.sandbox.report({ ...callback, reference: 'one' })
  await rails.cards.report({ ...callback, reference: 'two', livemode: true })
  await t.rejects(rails.sandbox.report({ ...callback, reference: 'three', livemode: true }))
  t.strictSame(heard, ['one', 'two'])
  await subscription.close()
})

t.test('nobody who was erased is sent anything', async (t) => {
  const erased: RailMethod = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '[erased]' }
  const answer = await registry.submit(request('disbursement', erased))
  t.match(answer, { state: 'failed', message: /erased/ })
})

t.test('numbers that an operator repeats are masked, in answers and in callbacks', async (t) => {
  const said = 'No account +221 77 000 12 12, 77-000-12-12 or 4242424242424242; limit 200000'
  const failed = { state: 'failed', code: 'no_account', message: said } as const
  const message = 'No account [number], [number] or [number]; limit 200000'
  const talkative = Object.assign(new NamedRail('talkative'), { status: async () => failed })
  const rails = new RailRegistry([{ environments: ['sandbox'], rail: talkative }])
  const asked = request('disbursement', mobile('0001', 'wave'))
  t.match(await rails.status(asked.reference, asked), { message })
  const heard: RailCallback[] = []
  rails.onCallback(async (callback) => void heard.push(callback))
  await talkative.report({ ...asked, result: failed })
  t.match(heard, [{ result: { message } }])
})
