import type { NamedExamples } from '../../contract/routes.ts'

export const planExamples: NamedExamples = {
  monthly: {
    summary: '5 000 XOF each month',
    value: { name: 'Solar kit, monthly', currency: 'XOF', recurringAmount: 5000, interval: 'month' },
  },
  metered: {
    summary: '2 000 XOF each month, and 25 XOF for each message',
    value: {
      name: 'Messages',
      currency: 'XOF',
      recurringAmount: 2000,
      interval: 'month',
      usageBasedEnabled: true,
      metadata: '{"meters":{"sms":25}}',
    },
  },
}
