import type pg from 'pg'
import type { EventStore } from '../../../packages/kernel/ports.ts'
import { eventually } from '../eventually.ts'
import { ownLocks } from '../postgres.ts'

/** What becomes of an append that waits when its process is killed. */
const fates = { 'is lost': 'pg_terminate_backend(pid)', 'is written all the same': '' } as const
export type Fate = keyof typeof fates

const lockKey = 4711
const waiting = `from ${ownLocks} where locktype = 'advisory' and objid = ${lockKey} and not granted`

/** Appends of one type of events that wait in PostgreSQL. */
export interface HeldAppends {
  untilOneWaits(): Promise<unknown>
  /** Those that wait meet this fate, and later ones are written. */
  release(fate: Fate): Promise<void>
}

/**
 * Has appends of events of this type wait. One that comes too late for its stream does not: it is refused and
 * sent again, and so would be lost whatever its fate.
 */
export async function holdAppends(pool: pg.Pool, type: string): Promise<HeldAppends> {
  const holder = await pool.connect()
  await holder.query(`select pg_advisory_lock(${lockKey})`)
  await holder.query(`
    create function hold_up() returns trigger language plpgsql
      as 'begin
        if not exists (select from events where stream = new.stream and revision = new.revision) then
          perform pg_advisory_xact_lock_shared(${lockKey});
        end if;
        return new;
      end';
    create trigger hold_up before insert on events for each row
      when (new.type = '${type}') execute function hold_up()`)
  return {
    untilOneWaits: () =>
      eventually(
        () => pool.query(`select ${waiting}`),
        ({ rowCount }) => rowCount! > 0,
      ),
    async release(fate) {
      await pool.query(`select ${fates[fate]} ${waiting}`)
      await holder.query(`select pg_advisory_unlock(${lockKey})`)
      await holder.query('drop trigger hold_up on events; drop function hold_up')
      holder.release()
    },
  }
}

/** Appends of this process alone, while all others go on. */
export interface OwnHeldAppends {
  /** Resolves once one has begun. */
  readonly begun: Promise<void>
  release(): void
}

/** Has appends of events of this type through this store wait before they are sent. */
export function holdOwnAppends(store: EventStore, type: string): OwnHeldAppends {
  const append = store.append.bind(store)
  let [begin, letGo] = [() => {}, () => {}]
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const released = new Promise<void>((resolve) => (letGo = resolve))
  store.append = async (stream, expected, events) => {
    if (events.some((event) => event.type === type)) {
      begin()
      await released
    }
    return append(stream, expected, events)
  }
  return {
    begun,
    release() {
      store.append = append
      letGo()
    },
  }
}
