import type { NamedExamples } from '../../contract/routes.ts'

export const intentExamples: NamedExamples = {
  mobile_money: {
    summary: "A payment in Côte d'Ivoire",
    value: {
      amount: 5000,
      currency: 'XOF',
      transaction_country: 'CI',
      description: 'Order 1042',
      metadata: { order: '1042' },
    },
  },
  customer: {
    summary: 'With a customer, found or created by e-mail',
    value: { amount: 5000, currency: 'XOF', transaction_country: 'CI', customer_email: 'awa@example.com' },
  },
}

export const revisionExamples: NamedExamples = {
  metadata: { summary: 'Add a key', value: { metadata: { shipment: '77' } } },
  clear: {
    summary: 'Take away the description and one key of the metadata',
    value: { description: null, metadata: { order: null } },
  },
}

export const confirmationExamples: NamedExamples = {
  mobile_money: {
    summary: 'By mobile money',
    value: {
      payment_method: {
        type: 'mobile_money',
        mobile_money: { country: 'CI', operator: 'orange_money', msisdn: '+2250700000001' },
      },
    },
  },
  card: {
    summary: 'By card',
    value: {
      payment_method: { type: 'card', card: { token: 'tok_visa' } },
      return_url: 'https://shop.example.com/return',
    },
  },
}
