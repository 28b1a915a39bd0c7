import { supportCase } from '../packages/domain/cases/case.ts'
import { documents } from '../packages/kernel/projection.ts'

export const cases = documents(supportCase, {
  name: 'cases',
  version: 1,
  columns: { status: 'text', kind: 'text', subject: 'text', opened_at: 'timestamptz' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { status, kind, subject, openedAt } = state
    return { status, kind, subject: subject.id, opened_at: openedAt }
  },
  indexes: [['status', 'kind', 'opened_at'], ['subject']],
})
