import type { NamedExamples } from '../../contract/routes.ts'

export const walletApplyExamples: NamedExamples = {
  all: { summary: 'All that is due, or that the wallet covers', value: {} },
  part: { summary: 'A part of it', value: { amount: 2500, description: 'First half' } },
}

export const topupExamples: NamedExamples = {
  orange: {
    summary: 'By Orange Money in Côte d’Ivoire',
    value: {
      amount: 5000,
      currency: 'XOF',
      country: 'CI',
      operator: 'orange_money',
      msisdn: '+2250700000042',
    },
  },
  wave: {
    summary: 'By Wave in Senegal, in whose browser it is approved',
    value: { amount: 2500, currency: 'XOF', country: 'SN', operator: 'wave', msisdn: '+221770000042' },
  },
}

export const topupFormExamples: NamedExamples = {
  whole: { summary: 'Five thousand francs', value: { Amount: '5 000' } },
  other: { summary: 'The same, written otherwise', value: { Amount: '5000' } },
}

export const walletFormExamples: NamedExamples = {
  whole: { summary: 'What is left of an invoice', value: { AtMost: '3000' } },
  part: { summary: 'As far as the wallet goes', value: { AtMost: '1500', Left: '3000' } },
}
