import type { NamedExamples } from '../../contract/routes.ts'

export const productExamples: NamedExamples = {
  product: {
    summary: 'A product with a price',
    value: { name: 'Solar lamp', unit_amount: 5000, currency: 'XOF', metadata: { shelf: '3' } },
  },
  name: { summary: 'Only a name', value: { name: 'Solar lamp' } },
}

export const revisionExamples: NamedExamples = {
  price: { summary: 'Another price', value: { unit_amount: 4500 } },
  clear: {
    summary: 'Take away the description and one key of the metadata',
    value: { description: null, metadata: { shelf: null } },
  },
}

export const activationExamples: NamedExamples = {
  off: { summary: 'Sell it no more', value: { active: false } },
  on: { summary: 'Sell it again', value: { active: true } },
}
