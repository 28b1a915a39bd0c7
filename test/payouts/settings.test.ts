import t from 'tap'
import { Refusal } from '../../packages/contract/refusals.ts'
import {
  readDestination,
  type DestinationRequest,
} from '../../packages/domain/payouts/destination-request.ts'
import {
  destinationId,
  payoutDestination,
  usableDestination,
  type PayoutDestinationEvents,
} from '../../packages/domain/payouts/destination.ts'
import { viewPayoutSettings } from '../../packages/domain/payouts/resource.ts'
import { agreeScheduled, keptMinimum } from '../../packages/domain/payouts/scheduled-terms.ts'
import { payoutSettings, payoutSettingsId } from '../../packages/domain/payouts/settings.ts'
import { agreeTerms } from '../../packages/domain/payouts/terms.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { revised } from '../support/payments/payouts.ts'
import { context, fold, scenarios } from '../support/scenarios.ts'

const at = context.now.toISOString()
const dayLater = '2026-01-02T12:00:00.000Z'
const owner = { merchant: context.merchant, livemode: false }
const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' } as const
const bank = { type: 'bank', bankCode: 'SN010', accountNumber: '0012345678', accountName: 'Awa' } as const
const savable = { destination: wave, currency: 'XOF', label: 'Till', isDefault: false }

const saved: Message<PayoutDestinationEvents> = {
  type: 'PayoutDestinationSaved',
  data: { ...savable, usableFrom: at },
}
const savedInLive: Message<PayoutDestinationEvents> = {
  type: 'PayoutDestinationSaved',
  data: { ...savable, usableFrom: dayLater },
}
const removed: Message<PayoutDestinationEvents> = { type: 'PayoutDestinationRemoved', data: {} }

scenarios(payoutDestination, {
  'a saved destination of the sandbox can be used at once': {
    when: { type: 'SaveDestination', data: savable },
    then: [saved],
    again: 'resource_must_not_exist_yet',
  },
  'a saved destination of live can be used after the safety delay of a day': {
    when: { type: 'SaveDestination', data: savable },
    then: [savedInLive],
    again: 'resource_must_not_exist_yet',
    context: { livemode: true },
  },
  'a destination that was removed can be saved again': {
    given: [saved, removed],
    when: { type: 'SaveDestination', data: savable },
    then: [saved],
    again: 'resource_must_not_exist_yet',
  },
  'a destination whose operator takes no payouts is not saved': {
    when: { type: 'SaveDestination', data: { ...savable, destination: { ...wave, operator: 'free_money' } } },
    then: 'operator_must_take_payouts',
  },
  'a destination is removed once': {
    given: [saved],
    when: { type: 'RemoveDestination', data: {} },
    then: [removed],
    again: 'resource_must_exist',
  },
})

const one = '0190a1b2-0000-7000-8000-0000000000d1'
const other = '0190a1b2-0000-7000-8000-0000000000d2'

scenarios(payoutSettings, {
  'settings keep what a revision does not name': {
    given: [revised({ frequency: 'daily' })],
    when: { type: 'RevisePayoutSettings', data: { keepMinimumBalance: true, minimumBalance: 1_000 } },
    then: [revised({ frequency: 'daily', keepMinimumBalance: true, minimumBalance: 1_000 })],
  },
  'a destination that was saved as the default becomes it': {
    when: { type: 'AdoptDefaultDestination', data: { destination: one, savedAt: at } },
    then: [revised({ defaultDestination: one })],
  },
  'what the merchant has chosen since outweighs a destination that was saved as the default': {
    given: [revised({ defaultDestination: other })],
    when: { type: 'AdoptDefaultDestination', data: { destination: one, savedAt: at } },
    then: [],
  },
  'a default destination that was removed is the default no more': {
    given: [revised({ defaultDestination: one })],
    when: { type: 'ForgetDestination', data: { destination: one } },
    then: [revised({})],
  },
  'another destination that was removed changes no setting': {
    given: [revised({ defaultDestination: one })],
    when: { type: 'ForgetDestination', data: { destination: other } },
    then: [],
  },
})

t.test('a merchant has settings of its own in each environment', async (t) => {
  const idIn = (livemode: boolean) => payoutSettingsId({ merchant: owner.merchant, livemode })
  t.not(idIn(true), idIn(false))
})

t.test('the same destination of a merchant is the same stream, whoever is called its holder', async (t) => {
  t.equal(destinationId(owner, bank), destinationId(owner, { ...bank, accountName: 'A. Diop' }))
  t.not(destinationId(owner, bank), destinationId({ ...owner, livemode: true }, bank))
  t.not(destinationId(owner, wave), destinationId(owner, bank))
})

type Who = Parameters<typeof usableDestination>[1]

t.test("a saved destination must be the merchant's, be active and be past its safety delay", async (t) => {
  const now = context.now
  const live = { merchant: owner.merchant, livemode: true }
  const use = (history: readonly Message<PayoutDestinationEvents>[], who: Who) => {
    const livemode = history.includes(savedInLive)
    return usableDestination(fold(payoutDestination, history, { ...context, livemode }), who)
  }
  t.equal(use([saved], { ...owner, now }).destination, wave)
  t.equal(use([savedInLive], { ...live, now: new Date(dayLater) }).destination, wave)
  const early = refusal(() => use([savedInLive], { ...live, now }))
  t.match(early, { reason: 'destination_must_be_past_its_safety_delay' })
  t.match(
    refusal(() => use([saved, removed], { ...owner, now })),
    { reason: 'destination_must_be_active' },
  )
  for (const [history, who] of [
    [[], owner],
    [[saved], live],
    [[saved], { ...owner, merchant: other }],
  ] as const) {
    const foreign = refusal(() => use(history, { ...who, now }))
    t.match(foreign, { reason: 'payout_must_have_one_valid_destination' })
  }
})

t.test('settings show only the last four digits of a number', async (t) => {
  const settings = fold(payoutSettings, [revised({ defaultDestination: one })])
  const destinations = [{ id: one, state: fold(payoutDestination, [saved]) }]
  const view = viewPayoutSettings('', settings, { ...owner, currency: 'XOF', destinations })
  t.match(view, { object: 'payout_settings', id: owner.merchant, default_destination_id: one })
  t.match(view.destinations, [{ id: one, msisdn: '****0000', is_default: true, account_number: null }])
  t.equal(
    viewPayoutSettings('', settings, { ...owner, currency: 'XOF', destinations: [] }).default_destination_id,
    null,
  )
})

t.test('a destination needs the fields of its type and takes none of the other', async (t) => {
  const mobile = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' } as const
  t.strictSame(readDestination(mobile, '/destination'), mobile)
  for (const [field, request] of [
    ['msisdn', { ...mobile, msisdn: null }],
    ['operator', { type: 'mobile_money', country: 'SN', msisdn: '+221770000000' }],
    ['bank_code', { ...mobile, bank_code: 'SN010' }],
    ['account_name', { type: 'bank', bank_code: 'SN010', account_number: '1' }],
    ['country', { type: 'bank', bank_code: 'SN010', account_number: '1', account_name: 'A', country: 'SN' }],
  ] as const satisfies readonly (readonly [string, DestinationRequest])[]) {
    t.match(
      refusal(() => readDestination(request, '/destination')),
      {
        reason: 'payout_must_have_one_valid_destination',
        details: { faults: [{ pointer: `/destination/${field}` }] },
      },
    )
  }
})

const wanted = {
  merchant: owner.merchant,
  currency: 'XOF',
  destination: wave,
  takes: { currency: null, pointer: '/destination/currency' },
}

t.test('a payout costs one percent by mobile money and a fixed fee to a bank, on top', async (t) => {
  const mobile = agreeTerms({ ...wanted, amount: 10_000 }, context.now)
  t.match(mobile.money, { amount: 10_000, fee: 100, source: 'merchant.available' })
  t.equal(mobile.money.rail, 'mobile_money.SN.wave')
  const toBank = agreeTerms({ ...wanted, destination: bank, amount: 10_000 }, context.now)
  t.match(toBank.money, { amount: 10_000, fee: 500, rail: 'bank.XOF' })
})

t.test('an operator is known by the name of the catalog, however it is written', async (t) => {
  const destination = { ...wave, operator: 'Orange-Money' }
  const { money } = agreeTerms({ ...wanted, destination, amount: 500 }, context.now)
  t.equal(money.rail, 'mobile_money.SN.orange_money')
})

t.test('a payout is in the currency of its destination', async (t) => {
  const takes = { currency: 'XAF', pointer: '/destination/currency' }
  const broken = refusal(() => agreeTerms({ ...wanted, takes, amount: 10_000 }, context.now))
  t.match(broken, { reason: 'payout_must_have_one_valid_destination' })
})

t.test('a scheduled payout takes what is above the minimum balance, fees included', async (t) => {
  const settings = fold(payoutSettings, [revised({ keepMinimumBalance: true, minimumBalance: 20_000 })])
  const kept = keptMinimum(settings, 'XOF', 'XOF')
  const money = (available: number) => agreeScheduled(kept, { ...wanted, available }, context.now)?.money
  t.match(money(121_000), { amount: 99_990, fee: 1_000 })
  t.match(money(50_000_000), { amount: 2_000_000, fee: 5_000 }, 'the operator moves no more at once')
  t.equal(money(20_100), undefined, 'too little for a payout')
  t.equal(money(0), undefined)
})

t.test(
  'a minimum is kept in its own currency only, which is the merchant’s when none is named',
  async (t) => {
    const minimum = { keepMinimumBalance: true, minimumBalance: 20_000 }
    const plain = fold(payoutSettings, [revised(minimum)])
    t.equal(keptMinimum(plain, 'XOF', 'XOF'), 20_000)
    t.equal(keptMinimum(plain, 'EUR', 'XOF'), 0)
    const inEuro = fold(payoutSettings, [revised({ ...minimum, minimumBalanceCurrency: 'EUR' })])
    t.equal(keptMinimum(inEuro, 'EUR', 'XOF'), 20_000)
    t.equal(keptMinimum(inEuro, 'XOF', 'XOF'), 0)
  },
)

/** What refuses the work; `undefined` when nothing does. */
function refusal(work: () => unknown): Refusal | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
