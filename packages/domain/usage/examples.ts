import type { NamedExamples } from '../../contract/routes.ts'

const subscriptionId = 'sub_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e'

export const usageExamples: NamedExamples = {
  many: {
    summary: 'Twelve messages',
    value: { subscriptionId, meterKey: 'sms', quantity: 12 },
  },
  once: {
    summary: 'One message, however often it is told',
    value: { subscriptionId, meterKey: 'sms', externalId: 'message-1042' },
  },
}
