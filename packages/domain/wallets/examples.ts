import type { NamedExamples } from '../../contract/routes.ts'

export const walletApplyExamples: NamedExamples = {
  all: { summary: 'All that is due, or that the wallet covers', value: {} },
  part: { summary: 'A part of it', value: { amount: 2500, description: 'First half' } },
}
