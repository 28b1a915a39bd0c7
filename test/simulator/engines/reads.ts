import type { DocumentRow, PageQuery, ReadStore } from '../../../packages/kernel/ports/reads.ts'
import { copied, type Row, type SimulatedDatabase } from './database.ts'
import type { Connection } from './pool.ts'

/** Read models as the API sees them. */
export function simulatedReads({ stage, database, life }: Connection): ReadStore {
  const { scheduler } = stage
  return {
    document: (name, id) =>
      scheduler.call(life, () => {
        return copied(database.table(name).get(id)) as DocumentRow | undefined
      }),
    page: <R>(query: PageQuery) =>
      scheduler.call(life, () => ({
        rows: copied(page(database, query)) as R[],
        position: database.position,
      })),
    known: 0,
    position: () => scheduler.call(life, () => database.position),
    async reached(position, timeoutMs) {
      const until = scheduler.now + timeoutMs
      while (database.position < position) {
        if (scheduler.now >= until) return false
        await scheduler.pause(life, pollEveryMs)
      }
      return true
    },
  }
}

const pollEveryMs = 250

function page(database: SimulatedDatabase, query: PageQuery): readonly Row[] {
  const { from, where, bounds = [], order, limit } = query
  const rows = [...database.table(from).values()].filter((row) =>
    [...where, ...bounds].every(({ column, operator, value }) => {
      if (operator === '=') return row[column] === value
      if (operator === '<') return String(row[column]) < String(value)
      throw new Error(`the simulated database does not compare by ${operator}`)
    }),
  )
  return rows.sort((one, other) => compared(other[order], one[order])).slice(0, limit)
}

function compared(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one) < String(other) ? -1 : 1
}
