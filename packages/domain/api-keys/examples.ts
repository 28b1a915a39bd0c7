import type { NamedExamples } from '../../contract/routes.ts'

export const apiKeyExamples: NamedExamples = {
  sandbox: {
    summary: 'A key that takes payments in the sandbox',
    value: { name: 'Shop', environment: 'sandbox', scopes: ['payments.read', 'payments.write'] },
  },
  restricted: {
    summary: 'A key for one machine and one year',
    value: {
      name: 'Accounting',
      environment: 'sandbox',
      scopes: ['balance.read'],
      ipAllowList: ['192.0.2.0/24'],
      expiresAt: '2030-01-01T00:00:00.000Z',
    },
  },
}

export const rollExamples: NamedExamples = {
  overlap: { summary: 'The old key works for another day', value: { overlapSeconds: 86_400 } },
  once: { summary: 'The old key stops at once', value: {} },
}
