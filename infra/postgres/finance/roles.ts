import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inTransaction } from '../client/transaction.ts'
import { financeReader } from './finance.ts'

export interface ReaderRole {
  readonly name: string
  /** Shown once: the server keeps a SCRAM verifier of it. */
  readonly password: string
  /** What this user may not forbid, as SQL for an administrator. Empty when all is done. */
  readonly leftToDo: string
}

/** The name belongs to a role that is not a reader of ours. */
export class RoleTakenError extends Error {
  override readonly name = 'RoleTakenError'
}

const passwordBytes = 24

/** What each session of a reader begins with. */
const sessionSettings = {
  default_transaction_read_only: 'on',
  statement_timeout: '60s',
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '60s',
  search_path: 'finance',
}
const connectionsMax = 10
/** One report that sorts what it has joined with itself would otherwise fill the disk of the books. */
const temporaryFilesMax = '2GB'

/**
 * Whether role `r` was made here. An administrator may be a member of the group too, and is neither given a
 * password nor dropped. A reader could change its own settings, but none of this.
 */
const isReader = `(r.rolconnlimit = ${connectionsMax}
  and not (r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls)
  and exists (select from pg_auth_members m join pg_roles g on g.oid = m.roleid
    where m.member = r.oid and g.rolname = $2))`

/** Makes a login that reads the views of finance and nothing else, or gives it another password. */
export async function grantReader(pool: pg.Pool, name: string): Promise<ReaderRole> {
  const password = randomBytes(passwordBytes).toString('base64url')
  const role = pg.escapeIdentifier(name)
  await inTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ isReader: boolean }>(
      `select ${isReader} as "isReader" from pg_roles r where rolname = $1`,
      [name, financeReader],
    )
    if (rows[0] && !rows[0].isReader) throw new RoleTakenError(`${name} is another role of this server`)
    if (!rows[0]) await connection.query(`create role ${role} in role ${financeReader}`)
    const rights = `login inherit connection limit ${connectionsMax}`
    const verifier = pg.escapeLiteral(scramVerifier(password))
    await connection.query(`alter role ${role} ${rights} password ${verifier}`)
    if (!(await isSuperuser(connection))) await connection.query(`grant ${role} to current_user`)
    for (const [setting, value] of Object.entries(sessionSettings))
      await connection.query(`alter role ${role} set ${setting} = ${pg.escapeLiteral(value)}`)
  })
  const leftToDo = [await closeToReaders(pool), await limitFiles(pool, name)].filter((each) => each !== '')
  return { name, password, leftToDo: leftToDo.join('\n') }
}

/** Only an administrator may: what is left to be run, or nothing. */
async function limitFiles(pool: pg.Pool, name: string): Promise<string> {
  const limiting = `alter role ${pg.escapeIdentifier(name)} set temp_file_limit = '${temporaryFilesMax}';`
  const isDone = await pool.query(limiting).then(
    () => true,
    (error: unknown) => {
      if ((error as { code?: string }).code !== '42501') throw error
      return false
    },
  )
  return isDone || (await hasFileLimit(pool, name)) ? '' : limiting
}

async function hasFileLimit(pool: pg.Pool, name: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from pg_roles r, unnest(r.rolconfig) as c where rolname = $1 and c like 'temp_file_limit=%'`,
    [name],
  )
  return rowCount! > 0
}

/**
 * Who may end sessions of a role is only who has its rights. A superuser may anyway, and must be no member:
 * the embedded server asks members of the readers' role for a password.
 */
async function isSuperuser(connection: pg.ClientBase): Promise<boolean> {
  const { rows } = await connection.query<{ is: boolean }>(
    'select rolsuper as is from pg_roles where rolname = current_user',
  )
  return rows[0]!.is
}

/** Ends a reader and its sessions; false when there is none of this name. */
export async function revokeReader(pool: pg.Pool, name: string): Promise<boolean> {
  const { rowCount } = await pool.query(`select from pg_roles r where rolname = $1 and ${isReader}`, [
    name,
    financeReader,
  ])
  if (!rowCount) return false
  const role = pg.escapeIdentifier(name)
  await pool.query(`alter role ${role} nologin`)
  await pool.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [name])
  await pool.query(`drop role ${role}`)
  return true
}

export interface ReaderLimits {
  /** Of a transaction that nobody has used. */
  readonly idleMs: number
  /** Of any transaction: one long statement, or many short ones. */
  readonly transactionMs: number
}

/**
 * Ends sessions of readers whose transaction is over a limit, since vacuum keeps what it can see, and a
 * rebuild waits for it. A reader can turn off the server's own limits. Returns how many there were.
 */
export async function endOverdueReaders(pool: pg.Pool, limits: ReaderLimits): Promise<number> {
  const { rowCount } = await pool.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_roles r on r.oid = a.usesysid
     where a.datname = current_database() and ${isReader} and pg_has_role(a.usesysid, 'usage')
       and (a.xact_start < now() - $3 * interval '1 millisecond'
         or a.state in ('idle in transaction', 'idle in transaction (aborted)')
           and a.state_change < now() - $1 * interval '1 millisecond')`,
    [limits.idleMs, financeReader, limits.transactionMs],
  )
  return rowCount ?? 0
}

/**
 * What PostgreSQL lets everybody do in a database: temporary tables, large objects, messages in the log of
 * writes, and advisory locks, by which our processes choose their leaders. The service's own user keeps them,
 * whoever runs this.
 */
function closingFor(service: string): string {
  const keeper = pg.escapeLiteral(service)
  return `do $closing$
  declare function regprocedure;
  begin
    execute format('revoke temporary on database %I from public', current_database());
    execute format('grant temporary on database %I to %I', current_database(), ${keeper});
    for function in select oid::regprocedure from pg_proc where pronamespace = 'pg_catalog'::regnamespace
      and (proname ~ '^lo_' or proname in ('loread', 'lowrite') or proname ~ '^pg_(try_)?advisory_'
        or proname = 'pg_logical_emit_message')
    loop
      execute format('revoke execute on function %s from public', function);
      execute format('grant execute on function %s to %I', function, ${keeper});
    end loop;
  end
$closing$;`
}

/** What an administrator has to run, because this user may not; empty when all is done. */
async function closeToReaders(pool: pg.Pool): Promise<string> {
  const { service, open } = await openness(pool)
  if (!open) return ''
  const closing = closingFor(service)
  await pool.query(closing).catch((error: unknown) => {
    if ((error as { code?: string }).code !== '42501') throw error
  })
  // What may not be revoked is sometimes an error and sometimes a warning.
  return (await openness(pool)).open ? closing : ''
}

/** Who asks, and whether readers may do here what they should not. */
async function openness(pool: pg.Pool): Promise<{ readonly service: string; readonly open: boolean }> {
  const { rows } = await pool.query<{ service: string; open: boolean }>(
    `select current_user as service, bool_or(has_function_privilege($1, oid, 'execute'))
       or has_database_privilege($1, current_database(), 'temporary') as open
     from pg_proc where pronamespace = 'pg_catalog'::regnamespace
       and proname in ('lo_create', 'pg_advisory_lock', 'pg_logical_emit_message')`,
    [financeReader],
  )
  return rows[0]!
}

const iterations = 4_096
const saltBytes = 16
const keyBytes = 32

/** As PostgreSQL keeps it, so that the password itself is in no statement and no log (RFC 5803). */
export function scramVerifier(password: string, salt = randomBytes(saltBytes)): string {
  const salted = pbkdf2Sync(password, salt, iterations, keyBytes, 'sha256')
  const keyOf = (what: string) => createHmac('sha256', salted).update(what).digest()
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  const server = keyOf('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${server}`
}

const accessComment = '# Readers of finance sign in with their password, and reach no other database.'

/** The embedded server trusts whoever reaches its socket, but not readers: they show their password. */
export async function askReadersForPassword(pool: pg.Pool, dataDirectory: string): Promise<void> {
  const file = join(dataDirectory, 'postgres', 'pg_hba.conf')
  const known = readFileSync(file, 'utf8')
  if (known.startsWith(accessComment)) return
  const { rows } = await pool.query<{ name: string }>('select current_database() as name')
  const lines = [
    accessComment,
    `local "${rows[0]!.name}" +${financeReader} scram-sha-256`,
    `local all +${financeReader} reject`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n${known}`)
  await pool.query('select pg_reload_conf()')
}

/** What `psql` takes to reach the views. `url` is that of the service; its user and password are left out. */
export function psqlLine(url: string, name: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url })
  const mode = /[?&]sslmode=([a-z-]+)/.exec(url)?.[1]
  const parts = { host, port, dbname: database, user: name, ...(mode && { sslmode: mode }) }
  const words = Object.entries(parts).map(([key, value]) => `${key}=${conninfo(String(value))}`)
  return `psql "${words.join(' ')}"`
}

function conninfo(value: string): string {
  return /^[\w./:@-]+$/.test(value) ? value : `'${value.replaceAll(/['\\]/g, '\\$&')}'`
}
