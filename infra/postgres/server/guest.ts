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

/** The answers of a server that is starting, stopping or gone: worth another look. */
const passing = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03'])

export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && passing.has(String(error.code))) return true
  return error.message.startsWith('Connection terminated')
}

/**
 * A process that uses an embedded server. Each holds a shared advisory lock while it lives, so the server
 * itself knows whether anybody is left: the last one to leave stops it, and a killed process leaves nothing
 * behind.
 */
export class Guest {
  readonly #address: ServerAddress
  readonly #client: pg.Client
  #broken = false

  private constructor(address: ServerAddress, client: pg.Client) {
    this.#address = address
    this.#client = client
    client.on('error', () => (this.#broken = true))
  }

  static async enter(address: ServerAddress): Promise<Guest> {
    const client = newClient(address)
    const guest = new Guest(address, client)
    try {
      await client.connect()
      await client.query('select pg_advisory_lock_shared($1)', [guestLock])
      await createDatabase(client)
    } catch (error) {
      await client.end()
      throw error
    }
    client.unref()
    return guest
  }

  /**
   * True when no other process uses the server; newcomers now wait until it has stopped. A server that has
   * restarted its sessions after a crash, or is about to, may have to be asked again.
   */
  async leave(): Promise<boolean> {
    if (this.#broken) return (await Guest.enter(this.#address)).leave()
    this.#client.ref()
    await this.#client.query('select pg_advisory_unlock_shared($1)', [guestLock])
    const text = 'select pg_try_advisory_lock($1) as last'
    const { rows } = await this.#client.query<{ last: boolean }>(text, [guestLock])
    const last = rows[0]?.last ?? false
    if (!last) await this.#client.end()
    return last
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
