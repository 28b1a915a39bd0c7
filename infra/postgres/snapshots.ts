import type pg from 'pg'
import type { Snapshot, Snapshots } from '../../packages/kernel/ports.ts'

export function postgresSnapshots(pool: pg.Pool): Snapshots {
  return { load, save }

  async function load(stream: string, version: number): Promise<Snapshot | undefined> {
    const { rows } = await pool.query<Snapshot>({
      name: 'load-snapshot',
      text: 'select revision, state from snapshots where stream = $1 and version = $2',
      values: [stream, version],
    })
    return rows[0]
  }

  /** An older state, or one from an older version that still runs, does not replace a newer one. */
  async function save(stream: string, version: number, { revision, state }: Snapshot): Promise<void> {
    await pool.query({
      name: 'save-snapshot',
      text: `
        insert into snapshots (stream, version, revision, state) values ($1, $2, $3, $4)
        on conflict (stream) do update
        set version = excluded.version, revision = excluded.revision, state = excluded.state
        where (excluded.version, excluded.revision) > (snapshots.version, snapshots.revision)`,
      values: [stream, version, revision, JSON.stringify(state)],
    })
  }
}
