import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

declare module 'pg' {
  /** Both exist in pg 8 but are missing from its published types. */
  interface Client {
    ref(): void
    unref(): void
  }
}

export interface ServerAddress {
  readonly socketDirectory: string
  readonly port: number
}

/** Advisory locks belong to a database, so all guests connect to the one that always exists. */
const lobby = 'postgres'
const guestLock = 4_719_202_601
const enterEveryMs = 200
/** So long after a crash all others have entered again. */
const othersEnterMs = 2_000

/** The answers of a server that is starting, stopping or gone: worth another look. */
const passing = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03'])

export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && passing.has(String(error.code))) return true
  return /^(Connection terminated|Client has encountered a connection error)/.test(error.message)
}

/** As the driver says that a connection was not made in time. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout expired'
}

/**
 * A process that uses an embedded server. Each holds a shared advisory lock while it lives, so the server
 * itself knows whether anybody is left: the last one to leave stops it, and a killed process leaves nothing
 * behind.
 */
export class Guest {
  readonly #address: ServerAddress
  readonly #leaving = new AbortController()
  #client: pg.Client | undefined
  #enteringAgain: Promise<void> | undefined
  #enteredAgainAt = Number.NEGATIVE_INFINITY

  private constructor(address: ServerAddress) {
    this.#address = address
  }

  static async enter(address: ServerAddress): Promise<Guest> {
    const guest = new Guest(address)
    await guest.#enter()
    return guest
  }

  /**
   * True when no other process uses the server; newcomers now wait until it has stopped. A server that
   * restarts its sessions after a crash may have to be asked again.
   */
  async leave(): Promise<boolean> {
    this.#leaving.abort()
    await this.#enteringAgain
    const client = this.#client ?? (await this.#enter())
    await pause(Math.max(0, this.#enteredAgainAt + othersEnterMs - performance.now()))
    client.ref()
    await client.query('select pg_advisory_unlock_shared($1)', [guestLock])
    const text = 'select pg_try_advisory_lock($1) as last'
    const { rows } = await client.query<{ last: boolean }>(text, [guestLock])
    const last = rows[0]?.last ?? false
    if (!last) await client.end()
    return last
  }

  async #enter(): Promise<pg.Client> {
    const client = newClient(this.#address)
    client.on('error', () => this.#lost(client))
    try {
      await client.connect()
      await client.query('select pg_advisory_lock_shared($1)', [guestLock])
      await createDatabase(client)
    } catch (error) {
      await client.end()
      throw error
    }
    client.unref()
    if (this.#enteringAgain) this.#enteredAgainAt = performance.now()
    return (this.#client = client)
  }

  /** After a crash the server ends all sessions, and whoever left first would stop it for all. */
  #lost(client: pg.Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#enteringAgain = this.#enterAgain()
  }

  async #enterAgain(): Promise<void> {
    const { signal } = this.#leaving
    while (!this.#client && !signal.aborted) {
      await pause(enterEveryMs, undefined, { ref: false, signal }).catch(() => undefined)
      // Whoever leaves is told why it cannot be entered.
      if (!signal.aborted) await this.#enter().catch(() => undefined)
    }
  }
}

function newClient({ socketDirectory, port }: ServerAddress): pg.Client {
  return new pg.Client({
    host: socketDirectory,
    port,
    user: 'ikw',
    database: lobby,
    application_name: 'ikw-payments guest',
    connectionTimeoutMillis: 5_000,
  })
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`select from pg_database where datname = 'ikw'`)
  if (rowCount) return
  try {
    await client.query('create database ikw')
  } catch (error) {
    // Two processes may create it at the same time; the slower one gets one of two errors.
    const exists = error instanceof pg.DatabaseError && (error.code === '42P04' || error.code === '23505')
    if (!exists) throw error
  }
}
