import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { isRunning } from '../../os/processes.ts'
import { embeddedBinaries, type Binaries } from './binaries.ts'
import type { ServerAddress } from './guest.ts'
import { serverUser, type ServerUser } from './user.ts'

/** Everything needed to start and find one embedded server. */
export interface Home {
  readonly directory: string
  readonly cluster: string
  readonly log: string
  readonly socketDirectory: string
  readonly binaries: Binaries
  readonly user: ServerUser
}

/** The path of a Unix socket is limited to 107 bytes. */
const socketPathMax = 100

export async function prepareHome(path: string): Promise<Home> {
  mkdirSync(path, { recursive: true })
  const directory = realpathSync(resolve(path))
  const binaries = await embeddedBinaries()
  const cluster = join(directory, 'postgres')
  const user = serverUser({ directory, cluster, program: binaries.postgres })
  const log = join(directory, 'postgres.log')
  return { directory, cluster, log, socketDirectory: socketDirectoryFor(directory, user), binaries, user }
}

function socketDirectoryFor(directory: string, user: ServerUser): string {
  const near = join(directory, 'socket')
  const fits = Buffer.byteLength(join(near, '.s.PGSQL.5432')) <= socketPathMax
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  const path = fits ? near : join(tmpdir(), `ikw-${name}`)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  // In a shared temporary directory, anybody could have created something of this name before.
  const { uid, mode } = lstatSync(path)
  const ours = uid === user.uid || uid === process.getuid?.()
  const privateDirectory = (mode & 0o170777) === 0o040700
  if (!ours || !privateDirectory) throw new Error(`${path} must be ours and closed to others`)
  user.own(path)
  return path
}

export interface RunningServer extends ServerAddress {
  readonly pid: number
}

/**
 * The server named by postmaster.pid, if that process is alive; after a crash the file may name a dead
 * process or somebody else's.
 */
export function runningServer(home: Home): RunningServer | undefined {
  const [pid, , , port, socketDirectory] = readIfThere(lockFile(home)).split('\n')
  if (!pid || !port || !socketDirectory || !isRunning(Number(pid))) return undefined
  return { pid: Number(pid), port: Number(port), socketDirectory }
}

export function hasCluster({ cluster }: Home): boolean {
  return statSync(join(cluster, 'PG_VERSION'), { throwIfNoEntry: false }) !== undefined
}

export function clusterVersion({ cluster }: Home): string {
  return readIfThere(join(cluster, 'PG_VERSION')).trim()
}

export function openLog({ log, user }: Home): number {
  const file = openSync(log, 'a', 0o600)
  user.own(log)
  return file
}

export function logTail({ log }: Home): string {
  return readIfThere(log).trimEnd().split('\n').slice(-3).join(' ')
}

/**
 * PostgreSQL takes any living process with the number in postmaster.pid for a server, even an unreaped zombie
 * or, after a container restart, a stranger. It never takes its own parent for one, and that is us; its other
 * safeguards stay in force.
 */
export function neutralizeStaleLock(home: Home): void {
  const [pid, ...rest] = readIfThere(lockFile(home)).split('\n')
  if (!pid || !isRunning(Number(pid)) || !isStranger(Number(pid))) return
  writeFileSync(lockFile(home), [process.pid, ...rest].join('\n'))
}

/** Only Linux shows it; elsewhere the answer is no. A zombie's command line is empty. */
function isStranger(pid: number): boolean {
  const path = `/proc/${pid}/cmdline`
  return existsSync(path) && basename(readIfThere(path).split('\0')[0] ?? '') !== 'postgres'
}

function lockFile({ cluster }: Home): string {
  return join(cluster, 'postmaster.pid')
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
