import type { NamedExamples } from '../../contract/routes.ts'

const subscriptionId = 'sub_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e'
const customerId = 'cus_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e'

export const invoiceExamples: NamedExamples = {
  plain: {
    summary: '7 500 XOF of a customer, due in 30 days',
    value: { customerId, currency: 'XOF', amountDue: 7500 },
  },
  subscription: {
    summary: "A subscription's price, with a day on which it is due",
    value: { subscriptionId, dueDate: '2030-01-31T00:00:00.000Z' },
  },
}

export const merchantInvoiceExamples: NamedExamples = {
  open: {
    summary: 'To be paid by whoever has its address',
    value: {
      customer_email: 'awa@example.com',
      customer_name: 'Awa Koné',
      amount: 7500,
      currency: 'XOF',
      description: 'Repair of a solar lamp',
    },
  },
  draft: { summary: 'A draft', value: { amount: 7500, currency: 'XOF', status: 'draft' } },
}

export const invoiceMoveExamples: NamedExamples = {
  void: { summary: 'Nothing is to be paid after all', value: { status: 'void' } },
  paid: { summary: 'Paid in cash', value: { status: 'paid' } },
}

export const invoicePayExamples: NamedExamples = {
  here: { summary: 'A payment intent for what is left', value: { transactionCountry: 'CI' } },
  described: {
    summary: 'The same, with a description of its own',
    value: { transactionCountry: 'CI', description: 'January', metadata: { till: '3' } },
  },
}

export const invoiceConfirmExamples: NamedExamples = {
  mobile_money: {
    summary: 'By mobile money',
    value: {
      paymentMethod: {
        type: 'mobile_money',
        mobileMoney: { country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' },
      },
    },
  },
  card: { summary: 'By card', value: { paymentMethod: { type: 'card', card: { token: 'tok_visa' } } } },
}

export const invoiceFormExamples: NamedExamples = {
  mobile_money: {
    summary: 'By mobile money',
    value: { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '+221770000042' },
  },
  card: { summary: 'By card: the payer goes on at the bank', value: { PaymentMethod: 'card' } },
}
