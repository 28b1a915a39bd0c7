import type pg from 'pg'

/**
 * For transactions whose statements look rows up by their keys. While a table is young the planner believes
 * that reading all of it is cheaper, and a prepared statement keeps that plan when the table has grown.
 */
export const planByKey = `
  set local enable_seqscan = off;
  set local enable_hashjoin = off;
  set local enable_mergejoin = off;
  set local plan_cache_mode = force_generic_plan;
  set local jit = off`

/** A statement that each connection parses and plans once; its name is a number, as long ones are cut. */
export function prepared(text: string, values: readonly unknown[]): pg.QueryConfig {
  let name = names.get(text)
  if (name === undefined) names.set(text, (name = `statement-${names.size}`))
  return { name, text, values: [...values] }
}

/** There are as many as shapes of changes to tables, and of pages. */
const names = new Map<string, string>()
