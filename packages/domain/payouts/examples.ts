import type { NamedExamples } from '../../contract/routes.ts'

const mobileMoney = {
  type: 'mobile_money',
  country: 'CI',
  operator: 'orange_money',
  msisdn: '+2250700000001',
}
const bank = { type: 'bank', bank_code: 'CI093', account_number: '01001000000001', account_name: 'Awa Koné' }
export const payoutExamples: NamedExamples = {
  mobile_money: {
    summary: 'To a mobile money account',
    value: { amount: 5000, currency: 'XOF', destination: mobileMoney, metadata: { order: '1042' } },
  },
  bank: { summary: 'To a bank account', value: { amount: 5000, currency: 'XOF', destination: bank } },
  saved: {
    summary: 'To a saved destination',
    value: { amount: 5000, currency: 'XOF', payout_method_id: '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e' },
  },
}

export const destinationExamples: NamedExamples = {
  mobile_money: {
    summary: 'A mobile money account',
    value: { ...mobileMoney, label: 'Salaries', is_default: true },
  },
  bank: { summary: 'A bank account', value: bank },
}

export const settingsExamples: NamedExamples = {
  weekly: {
    summary: 'Pay out every week',
    value: { frequency: 'weekly', keep_minimum_balance: true, minimum_balance: 50000 },
  },
  manual: { summary: 'Only when you ask for it', value: { frequency: 'manual' } },
}
