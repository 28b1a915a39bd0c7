import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import file, { type Test } from 'tap'
import { SandboxOperations } from '../../../infra/postgres/sandbox-operations.ts'
import { SimulatedOperators, type SandboxOptions } from '../../../infra/rails/sandbox.ts'
import type { SandboxBook } from '../../../infra/rails/sandbox-book.ts'
import { HttpSandboxBook } from '../../../infra/rails/sandbox-http.ts'
import { serveBook } from '../../../infra/rails/sandbox-server.ts'
import type { RailCallback, RailMethod, RailRequest } from '../../../packages/kernel/ports/rails.ts'
import { testDatabase } from '../postgres.ts'

export const redirectBase = 'http://localhost/sandbox/redirect'
export const second = 1_000
export const minute = 60 * second

export function mobile(ending: string, operator = 'orange_money'): RailMethod {
  return { type: 'mobile_money', country: 'SN', operator, msisdn: `+22177000${ending}` }
}

export function account(ending: string): RailMethod {
  return { type: 'bank', bankCode: 'SN012', accountNumber: `08000${ending}`, accountName: 'Awa' }
}

export function card(token: string): RailMethod {
  return { type: 'card', token }
}

export function request(kind: RailRequest['kind'], method: RailMethod): RailRequest {
  return {
    reference: randomUUID(),
    kind,
    merchant: randomUUID(),
    livemode: false,
    amountMinor: 5_000,
    currency: 'XOF',
    method,
  }
}

export interface OpenedBook {
  readonly book: SandboxBook
  /** The database it is stored in. */
  readonly pool: pg.Pool
}

/** Runs the same tests on records in this process and on ones reached over HTTP. */
export function onEachBook(tests: (t: Test, runtime: OpenedBook) => void): void {
  const inProcess = async (_: Test, pool: pg.Pool) => new SandboxOperations(pool)
  for (const [where, open] of Object.entries({ 'in this process': inProcess, 'over HTTP': bookApart })) {
    file.test(`the operators' book ${where}`, async (t) => {
      const { pool } = await testDatabase(t)
      const book = await open(t, pool)
      t.beforeEach(() => pool.query('truncate sandbox_operations'))
      tests(t, { book, pool })
    })
  }
}

async function bookApart(t: Test, pool: pg.Pool): Promise<HttpSandboxBook> {
  const { url } = await serverOf(t, pool)
  const book = new HttpSandboxBook({ url })
  t.teardown(() => book.close())
  return book
}

/** Records in Postgres behind a server, as `npm run start:sandbox` has them. */
export async function serverOf(t: Test, pool: pg.Pool): Promise<{ readonly url: string }> {
  const server = createServer(serveBook(new SandboxOperations(pool), () => undefined)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Simulated operators with a clock of their own, and all callbacks they have made. */
export function operators(t: Test, book: SandboxBook, options: Partial<SandboxOptions> = {}) {
  let now = new Date('2026-01-01T12:00:00Z')
  const clock = () => now
  const pass = (delayMs: number) => void (now = new Date(now.getTime() + delayMs))
  const rail = new SimulatedOperators({ book, clock, redirectBase, ...options })
  const callbacks: RailCallback[] = []
  const listen = (handle = async (callback: RailCallback) => void callbacks.push(callback)) => {
    const subscription = rail.onCallback(handle)
    t.teardown(() => subscription.close())
    return subscription
  }
  return { rail, pass, listen, callbacks }
}

export interface BookedOperation {
  readonly calls: number
  readonly executions: number
  readonly callbacksOwed: number
  readonly amount: number | null
  readonly merchant: string | null
}

/** What the operators have recorded. */
export async function booked(pool: pg.Pool, reference: string): Promise<BookedOperation | undefined> {
  const { rows } = await pool.query<BookedOperation>(
    `select calls, executions, callbacks_owed as "callbacksOwed", amount, merchant
     from sandbox_operations where reference = $1`,
    [reference],
  )
  return rows[0]
}

/** How many callbacks the operators still owe, over all operations. */
export async function owedCallbacks(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select coalesce(sum(callbacks_owed), 0) as count from sandbox_operations',
  )
  return rows[0]?.count ?? 0
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(10)
}
