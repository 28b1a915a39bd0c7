import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

/**
 * Like a crash of the machine: kills the server of a data directory, which outlives the processes that use
 * it.
 */
export function killPostgres(dataDirectory: string): boolean {
  const file = join(dataDirectory, 'postgres/postmaster.pid')
  if (!existsSync(file)) return false
  try {
    return process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGKILL')
  } catch {
    // It has ended by itself.
    return false
  }
}

/** Sent to the server and to each of its processes. */
export function signalPostgres(dataDirectory: string, signal: NodeJS.Signals): void {
  const [pid] = readFileSync(join(dataDirectory, 'postgres/postmaster.pid'), 'utf8').split('\n')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  for (const one of [pid, ...children]) process.kill(Number(one), signal)
}

/** A process of the server crashes, so that it ends all others and recovers. */
export async function killConnection(dataDirectory: string): Promise<void> {
  const lines = readFileSync(join(dataDirectory, 'postgres/postmaster.pid'), 'utf8').split('\n')
  const [port, host] = lines.slice(3) as [string, string]
  const client = new pg.Client({ host, port: Number(port), user: 'ikw', database: 'ikw' })
  const ended = new Promise((resolve) => client.on('error', resolve))
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  process.kill(rows[0]!.pid, 'SIGKILL')
  await ended
}
