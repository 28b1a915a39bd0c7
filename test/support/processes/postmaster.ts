import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

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
