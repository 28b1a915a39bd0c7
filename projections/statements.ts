import type { StatementEvents } from '../packages/domain/statements/statement.ts'
import { projection } from '../packages/kernel/projection.ts'

/** Statements of operators, and how they came out. */
export const statements = projection<StatementEvents>()({
  name: 'statements',
  version: 1,
  columns: {
    id: 'text',
    rail: 'text',
    environment: 'text',
    currency: 'text',
    digest: 'text',
    from_time: 'timestamptz',
    to_time: 'timestamptz',
    lines: 'bigint',
    position: 'bigint',
    imported_at: 'timestamptz',
    drift: 'numeric',
    unexplained: 'numeric',
    reconciled_at: 'timestamptz',
  },
  key: ['id'],
  indexes: [],
  on: {
    StatementImported: ({ id, position, metadata, data }) => {
      const { rail, environment, currency, digest, from, to, lines } = data
      const times = { from_time: from, to_time: to, imported_at: metadata.at }
      const nothing = { drift: null, unexplained: null, reconciled_at: null }
      return [{ put: { id, rail, environment, currency, digest, lines, position, ...times, ...nothing } }]
    },
    StatementReconciled: ({ id, metadata, data: { drift, unexplained } }) => [
      { patch: { drift, unexplained, reconciled_at: metadata.at }, key: { id } },
    ],
  },
})

/** What was found about each line of a statement, and about entries that it lacks. */
export const reconciliation = projection<StatementEvents>()({
  name: 'reconciliation',
  version: 1,
  columns: {
    statement: 'text',
    item: 'bigint',
    kind: 'text',
    line: 'bigint',
    reference: 'text',
    line_amount: 'bigint',
    line_fee: 'bigint',
    line_at: 'timestamptz',
    entry: 'text',
    book: 'text',
    entry_position: 'bigint',
    entry_amount: 'bigint',
    entry_at: 'timestamptz',
    is_within: 'boolean',
  },
  key: ['statement', 'item'],
  indexes: [],
  appendOnly: true,
  on: {
    StatementLineCompared: ({ id, revision, data: { kind, line, own } }) => [
      {
        isNew: true,
        put: {
          statement: id,
          item: revision,
          kind,
          line: line?.number ?? null,
          reference: line?.reference || (own?.reference ?? null),
          line_amount: line?.amount ?? null,
          line_fee: line?.fee ?? null,
          line_at: line?.at ?? null,
          entry: own?.entryId ?? null,
          book: own?.book ?? null,
          entry_position: own?.position ?? null,
          entry_amount: own?.amount ?? null,
          entry_at: own?.effectiveAt ?? null,
          is_within: own?.isWithin ?? null,
        },
      },
    ],
  },
})
