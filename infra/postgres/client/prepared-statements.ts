import type pg from 'pg'

/**
 * For transactions whose statements look up rows by key. On a young table the planner prefers a full scan,
 * and a prepared statement would keep that plan after the table has grown.
 */
export const planByKey = `
  set local enable_seqscan = off;
  set local enable_hashjoin = off;
  set local enable_mergejoin = off;
  set local plan_cache_mode = force_generic_plan;
  set local jit = off`

/**
 * A statement that each connection parses and plans once; its name is a number, because PostgreSQL truncates
 * long names.
 */
export function prepared(text: string, values: readonly unknown[]): pg.QueryConfig {
  let name = names.get(text)
  if (name === undefined) names.set(text, (name = `statement-${names.size}`))
  return { name, text, values: [...values] }
}

/** As many as there are shapes of changes to tables, and of pages. */
const names = new Map<string, string>()
