import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, release, totalmem, type as systemType } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { median } from './statistics.ts'

const settings = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'wal_level',
  'data_checksums',
  'shared_buffers',
  'max_wal_size',
  'wal_compression',
  'max_connections',
]

/** The machine the figures were measured on, as lines of `name: value`. */
export async function machineFacts(
  directory: string,
  pool: pg.Pool,
): Promise<Readonly<Record<string, string>>> {
  const [cpu] = cpus()
  const { rows } = await pool.query<{ name: string; value: string }>(
    'select name, current_setting(name) as value from unnest($1::text[]) as name',
    [settings],
  )
  const version = await pool.query<{ version: string }>('select version()')
  return {
    CPU: cpu?.model ?? 'unknown',
    cores: String(cpus().length),
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    system: `${systemType()} ${release()}`,
    'fsync of 8 kB': `${fsyncMs(directory).toFixed(2)} ms (median of ${fsyncs})`,
    Node: process.version,
    PostgreSQL: version.rows[0]?.version.split(' on ')[0] ?? 'unknown',
    settings: rows.map(({ name, value }) => `${name}=${value}`).join(' '),
  }
}

const fsyncs = 200

function fsyncMs(directory: string): number {
  const path = join(directory, 'fsync')
  const descriptor = openSync(path, 'w')
  const block = Buffer.alloc(8_192, 1)
  const durations: number[] = []
  for (let count = 0; count < fsyncs; count++) {
    const started = performance.now()
    writeSync(descriptor, block)
    fsyncSync(descriptor)
    durations.push(performance.now() - started)
  }
  closeSync(descriptor)
  rmSync(path)
  return median(durations)
}
