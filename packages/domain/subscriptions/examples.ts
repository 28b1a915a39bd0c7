import type { NamedExamples } from '../../contract/routes.ts'

const billingPlanId = 'plan_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e'
const customerId = 'cus_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e'

export const subscriptionExamples: NamedExamples = {
  now: { summary: 'From now on, an invoice each period', value: { billingPlanId, customerId } },
  once: {
    summary: 'For one period',
    value: { billingPlanId, customerId, cancelAtPeriodEnd: true },
  },
}

export const itemsExamples: NamedExamples = {
  now: {
    summary: 'Two of a plan, from now on',
    value: { customer: customerId, items: [{ price: billingPlanId, quantity: 2 }] },
  },
  trial: {
    summary: 'Free for two weeks',
    value: { customer: customerId, items: [{ price: billingPlanId }], trial_period_days: 14 },
  },
}

export const cancelExamples: NamedExamples = {
  end: {
    summary: 'At the end of the period that is paid for',
    value: { atPeriodEnd: true, reason: 'Moved away' },
  },
  now: { summary: 'At once', value: {} },
}

export const merchantCancelExamples: NamedExamples = {
  end: {
    summary: 'At the end of the period that is paid for',
    value: { at_period_end: true, reason: 'Moved away' },
  },
  now: { summary: 'At once', value: {} },
}
