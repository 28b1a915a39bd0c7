import type { Test } from 'tap'

/** Runs a law over each row of a table. A law over no rows holds for anything, so an empty table fails. */
export async function lawOver<Row>(
  t: Pick<Test, 'fail'>,
  rows: Iterable<Row>,
  law: (row: Row) => unknown,
): Promise<void> {
  let count = 0
  for (const row of rows) {
    await law(row)
    count++
  }
  if (count === 0) t.fail('the law is over nothing')
}
