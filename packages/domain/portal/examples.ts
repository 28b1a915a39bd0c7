import type { NamedExamples } from '../../contract/routes.ts'

export const portalExamples: NamedExamples = {
  everything: {
    summary: 'Everything that the customer may see',
    value: {
      customerId: 'cus_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e',
      returnUrl: 'https://shop.example/account',
    },
  },
  invoices: {
    summary: 'Invoices alone',
    value: { customerId: 'cus_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e', permissions: ['invoices'] },
  },
}

export const portalPayExamples: NamedExamples = {
  checkout: { summary: 'On a page of ours', value: { source: 'checkout' } },
  wallet: { summary: 'From the wallet', value: { source: 'wallet' } },
  country: { summary: 'Paid in another country than yours', value: { source: 'checkout', country: 'SN' } },
}

export const portalCancelExamples: NamedExamples = {
  reason: { summary: 'With a reason', value: { reason: 'I have moved' } },
  other: { summary: 'With another reason', value: { reason: 'Too expensive' } },
}
