import type { NamedExamples } from '../../contract/routes.ts'

export const checkoutSessionExamples: NamedExamples = {
  order: {
    summary: 'An order of 5 000 XOF',
    value: {
      amount: 5000,
      currency: 'XOF',
      country: 'CI',
      successUrl: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
      cancelUrl: 'https://shop.example/cart',
      metadata: { order: '1042' },
    },
  },
  deferred: {
    summary: 'Only by mobile money, with a payment intent when the payer pays',
    value: {
      amount: 12000,
      currency: 'XOF',
      country: 'SN',
      paymentMethodTypes: ['mobile_money'],
      deferPaymentIntentCreation: true,
    },
  },
}

export const checkoutPaymentExamples: NamedExamples = {
  mobile_money: {
    summary: 'By mobile money',
    value: {
      payment_method: {
        type: 'mobile_money',
        mobile_money: { country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' },
      },
    },
  },
  card: {
    summary: 'By card',
    value: { payment_method: { type: 'card', card: { token: 'tok_visa' } } },
  },
}

export const checkoutFormExamples: NamedExamples = {
  mobile_money: {
    summary: 'By mobile money',
    value: { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '0700000042' },
  },
  card: { summary: 'By card: the payer goes on at the bank', value: { PaymentMethod: 'card' } },
}
