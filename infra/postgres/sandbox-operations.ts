import type pg from 'pg'
import type { RailMethod, RailState } from '../../packages/kernel/ports/rails.ts'
import type {
  CalledBack,
  ClaimedCallback,
  KnownOperation,
  SandboxBook,
  Submission,
} from '../rails/sandbox-book.ts'
import { Batcher } from './client/batcher.ts'

interface Resolution {
  readonly reference: string
  readonly state: RailState
  readonly now: Date
}

interface Stated {
  readonly reference: string
  readonly state: RailState
}

/**
 * The simulated operators' records in Postgres. Calls of one tick, or made during a write, are written
 * together.
 */
export class SandboxOperations implements SandboxBook {
  readonly #pool: pg.Pool
  readonly #submissions = new Batcher((batch: readonly Submission[]) => this.#enter(batch))
  readonly #questions = new Batcher((references: readonly string[]) => this.#look(references))
  readonly #resolutions = new Batcher((batch: readonly Resolution[]) => this.#end(batch))

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  submit(submission: Submission): Promise<RailState> {
    return this.#submissions.enqueue(submission)
  }

  find(reference: string): Promise<KnownOperation | undefined> {
    return this.#questions.enqueue(reference)
  }

  resolve(reference: string, state: RailState, now: Date): Promise<RailState> {
    return this.#resolutions.enqueue({ reference, state, now })
  }

  async advance({ now, limit, reference }: Parameters<SandboxBook['advance']>[0]): Promise<number> {
    const [name, condition, values] =
      reference === undefined
        ? ['sandbox-advance', 'order by due_at', []]
        : ['sandbox-advance-one', 'and reference = $3', [reference]]
    const text = advanceStatement(condition)
    const { rowCount } = await this.#pool.query({ name, text, values: [now, limit, ...values] })
    return rowCount ?? 0
  }

  async claimCallbacks({ now, until, limit }: Parameters<SandboxBook['claimCallbacks']>[0]) {
    const { rows } = await this.#pool.query<ClaimedCallback>({
      name: 'sandbox-claim',
      text: claimStatement,
      values: [now, until, limit],
    })
    return rows
  }

  async settleCallbacks(callbacks: readonly CalledBack[]): Promise<void> {
    await this.#pool.query({
      name: 'sandbox-settle',
      text: settleStatement,
      values: [
        callbacks.map(({ reference }) => reference),
        callbacks.map(({ attempts }) => attempts),
        callbacks.map(({ accepted }) => accepted),
        callbacks.map(({ nextAt }) => nextAt),
      ],
    })
  }

  /** Locks rows in order of their references, so that two processes cannot deadlock. */
  async #enter(batch: readonly Submission[]): Promise<readonly RailState[]> {
    const calls = new Map<string, { submission: Submission; count: number }>()
    for (const submission of batch) {
      const known = calls.get(submission.request.reference)
      if (known) known.count++
      else calls.set(submission.request.reference, { submission, count: 1 })
    }
    const rows = [...calls.values()].map(({ submission, count }) => [...valuesOf(submission), count])
    const columns = Object.keys(submissionColumns).map((_, column) => rows.map((row) => row[column]))
    const query = { name: 'sandbox-submit', text: submitStatement, values: columns }
    const { rows: states } = await this.#pool.query<Stated>(query)
    const found = new Map(states.map(({ reference, state }) => [reference, state]))
    return batch.map(({ request }) => found.get(request.reference)!)
  }

  async #look(references: readonly string[]): Promise<readonly (KnownOperation | undefined)[]> {
    const { rows } = await this.#pool.query<KnownOperation & { reference: string }>({
      name: 'sandbox-find',
      text: `
        select reference, state, answers, due_at as "dueAt"
        from sandbox_operations where reference = any($1)`,
      values: [references],
    })
    const found = new Map(rows.map(({ reference, ...known }) => [reference, known]))
    return references.map((reference) => found.get(reference))
  }

  /** One statement ends an operation once; a second caller goes with the next statement. */
  async #end(batch: readonly Resolution[]): Promise<readonly RailState[]> {
    const first = new Map<string, Resolution>()
    const later: Resolution[] = []
    for (const resolution of batch) {
      if (first.has(resolution.reference)) later.push(resolution)
      else first.set(resolution.reference, resolution)
    }
    const states = await this.#endOnce([...first.values()])
    const laterStates = (later.length > 0 ? await this.#end(later) : []).values()
    return batch.map((resolution) => {
      const { reference } = resolution
      return first.get(reference) === resolution ? states.get(reference)! : laterStates.next().value!
    })
  }

  /** Operations that had ended before are not changed, only looked up. */
  async #endOnce(resolutions: readonly Resolution[]): Promise<ReadonlyMap<string, RailState>> {
    const { rows } = await this.#pool.query<Stated>({
      name: 'sandbox-resolve',
      text: resolveStatement,
      values: [
        resolutions.map(({ reference }) => reference),
        resolutions.map(({ state }) => JSON.stringify(state)),
        resolutions.map(({ state }) => executions(state)),
        resolutions.map(({ now }) => now),
      ],
    })
    const states = new Map(rows.map(({ reference, state }) => [reference, state]))
    const ended = resolutions.map(({ reference }) => reference).filter((each) => !states.has(each))
    if (ended.length === 0) return states
    const known = await this.#look(ended)
    for (const [index, reference] of ended.entries()) states.set(reference, known[index]!.state)
    return states
  }
}

/** The columns of one submission, in the order of `submissionColumns` without the last. */
function valuesOf({ request, script, now }: Submission): readonly unknown[] {
  const [first] = script.steps
  return [
    request.reference,
    request.kind,
    request.merchant,
    request.livemode,
    request.amountMinor,
    request.currency,
    JSON.stringify(withoutToken(request.method)),
    JSON.stringify(script.state),
    JSON.stringify(script.steps),
    first ? new Date(now.getTime() + first.afterMs) : null,
    script.answers,
    executions(script.state),
    now,
  ]
}

/** Card tokens are cut: nobody who reads these records may be able to charge cards. */
function withoutToken(method: RailMethod): object {
  return method.type === 'card' ? { type: method.type } : method
}

/** How often money moves when an operation reaches this state. */
function executions({ state }: RailState): number {
  return state === 'succeeded' ? 1 : 0
}

const submissionColumns = {
  reference: 'text',
  kind: 'text',
  merchant: 'text',
  livemode: 'boolean',
  amount: 'bigint',
  currency: 'text',
  method: 'json',
  state: 'jsonb',
  steps: 'jsonb',
  due_at: 'timestamptz',
  answers: 'boolean',
  executions: 'integer',
  created_at: 'timestamptz',
  calls: 'integer',
}

const names = Object.keys(submissionColumns).join(', ')
const arrays = Object.values(submissionColumns)
  .map((type, index) => `$${index + 1}::${type}[]`)
  .join(', ')

/**
 * A known reference is never inserted again. One that was resolved before its submission gets its request.
 */
const submitStatement = `
  insert into sandbox_operations as known (${names})
  select * from unnest(${arrays}) as submitted (${names}) order by reference
  on conflict (reference) do update set
    calls = known.calls + excluded.calls,
    kind = coalesce(known.kind, excluded.kind),
    merchant = coalesce(known.merchant, excluded.merchant),
    livemode = coalesce(known.livemode, excluded.livemode),
    amount = coalesce(known.amount, excluded.amount),
    currency = coalesce(known.currency, excluded.currency),
    method = coalesce(known.method, excluded.method)
  returning reference, state`

/** A step waits until the callbacks of the last one are accepted: a return never overtakes its payment. */
function advanceStatement(condition: string): string {
  return `
    update sandbox_operations set
      state = steps->0->'state',
      steps = steps - 0,
      due_at = $1::timestamptz + (steps->1->>'afterMs')::double precision * interval '1 millisecond',
      callbacks_owed = (steps->0->>'callbacks')::integer,
      callback_at = case when (steps->0->>'callbacks')::integer > 0 then $1::timestamptz end,
      executions = executions + (steps->0->'state'->>'state' = 'succeeded')::integer
    where reference = any(array(
      select reference from sandbox_operations
      where due_at <= $1 and callbacks_owed = 0 ${condition} limit $2 for update skip locked
    ))`
}

const claimStatement = `
  update sandbox_operations set callback_at = $2, callback_attempts = callback_attempts + 1
  where reference = any(array(
    select reference from sandbox_operations
    where callback_at <= $1 order by callback_at limit $3 for update skip locked
  ))
  returning reference, kind, merchant, livemode, state as result, callback_attempts as attempts`

const settleStatement = `
  update sandbox_operations as operation set
    callbacks_owed = callbacks_owed - accepted::integer,
    callback_at = case when callbacks_owed > accepted::integer then next_at end
  from unnest($1::text[], $2::integer[], $3::boolean[], $4::timestamptz[])
    as called (reference, attempts, accepted, next_at)
  where operation.reference = called.reference and callback_attempts = attempts and callbacks_owed > 0`

const resolveStatement = `
  insert into sandbox_operations as known (reference, state, executions, created_at)
  select * from unnest($1::text[], $2::jsonb[], $3::integer[], $4::timestamptz[])
    as resolved (reference, state, executions, created_at)
  order by reference
  on conflict (reference) do update set
    state = excluded.state,
    steps = '[]',
    due_at = null,
    callbacks_owed = 0,
    callback_at = null,
    executions = known.executions + excluded.executions
  where known.state->>'state' in ('pending', 'redirect')
    or (known.state->>'state' = 'succeeded' and excluded.state->>'state' = 'returned')
  returning reference, state`
