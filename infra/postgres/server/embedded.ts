import type { ChildProcess } from 'node:child_process'
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { ifPossible } from '../../os/if-possible.ts'
import { Guest, isPassing, isSilence } from './guest.ts'
import {
  clusterVersion,
  neutralizeStaleLock,
  hasCluster,
  logTail,
  openLog,
  prepareHome,
  runningServer,
  type Home,
  type RunningServer,
} from './home.ts'

export interface EmbeddedOptions {
  readonly directory: string
}

export interface EmbeddedPostgres {
  /** A connection string for `pg`. */
  readonly url: string
  /** Stops the server, unless another process uses it too. */
  stop(): Promise<void>
}

const majorVersion = '18'
/** On the command line, so that each start uses this program's settings and not an older one's. */
const settings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  shared_buffers: '256MB',
  max_connections: '300',
  wal_compression: 'on',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'error',
  log_checkpoints: 'off',
  // Statements and key values are the merchants' data, which does not belong in a log.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

const retryMs = { first: 10, most: 200 }
const answerTimeoutMs = 60_000
const restartDelayMs = 500
const startsMax = 5
const stopTimeoutMs = 60_000
/** A few questions take. */
const leaveTimeoutMs = 15_000
const unfinishedPrefix = 'postgres.unfinished-'
const unfinishedKeptMs = 600_000

/** Starts the PostgreSQL that npm installed, or continues with one that a killed process has left running. */
export async function startEmbeddedPostgres({ directory }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = await prepareHome(directory)
  removeAbandoned(home)
  if (!hasCluster(home)) await createCluster(home)
  const version = clusterVersion(home)
  if (version !== majorVersion) {
    throw new Error(`${home.cluster} is of PostgreSQL ${version}, but this program runs ${majorVersion}`)
  }
  const { guest, server } = await new Launch(home).entered()
  const host = encodeURIComponent(server.socketDirectory)
  const url = `postgresql:///ikw?host=${host}&port=${server.port}&user=ikw`
  return { url, stop: leaving(home, guest) }
}

/** Ends the visits of this process to servers that it has not tried to leave yet. */
const visits = new Set<() => Promise<void>>()

/** Once, however many ask for it: who gives up a stop that hangs does, too. */
function leaving(home: Home, guest: Guest): () => Promise<void> {
  let left: Promise<void> | undefined
  const again = (error: unknown) => {
    left = undefined
    throw error
  }
  const leave = () =>
    (left ??= stop(home, guest)
      .catch(again)
      .finally(() => visits.delete(leave)))
  visits.add(leave)
  return leave
}

/** Leaves every server that this process still uses, and stops those that no other process uses. */
export async function leaveEmbedded(): Promise<void> {
  await Promise.all([...visits].map((leave) => leave()))
}

/**
 * Created under a temporary name and then renamed: being killed midway leaves nothing that looks complete.
 */
async function createCluster(home: Home): Promise<void> {
  const unfinished = mkdtempSync(join(home.directory, unfinishedPrefix))
  home.user.own(unfinished)
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8']
  const access = ['--username=ikw', '--auth=trust']
  const parameters = ['--pgdata', unfinished, '--no-instructions', ...access, ...locale]
  const child = home.user.run(home.binaries.initdb, parameters, { stdio: ['ignore', 'ignore', 'pipe'] })
  const [exit, words] = await Promise.all([exitOf(child), child.stderr ? text(child.stderr) : ''])
  if (exit !== 'code 0') throw new Error(`initdb failed with ${exit}: ${words.trim()}`)
  try {
    renameSync(unfinished, home.cluster)
  } catch (error) {
    // A directory that is not empty cannot be replaced: another process was faster, and its cluster is as
    // good.
    rmSync(unfinished, { recursive: true })
    if (!hasCluster(home)) throw error
  }
  syncDirectory(home.directory)
}

/** Also beside a finished one: of several first starts, those that were killed leave theirs. */
function removeAbandoned({ directory }: Home): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    if (!name.startsWith(unfinishedPrefix)) continue
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    if (age > unfinishedKeptMs) ifPossible(() => rmSync(path, { recursive: true, force: true }))
  }
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`))
  })
}

/**
 * Tries to connect, and starts a server when none answers. Two processes may both do so: PostgreSQL's own
 * lock lets one server live, and both then connect to it.
 */
class Launch {
  readonly #home: Home
  #child: ChildProcess | undefined
  #starts = 0
  #startedAt = 0
  #failure: Error | undefined
  #deadline = Date.now() + answerTimeoutMs

  constructor(home: Home) {
    this.#home = home
  }

  async entered(): Promise<{ readonly guest: Guest; readonly server: RunningServer }> {
    for (let delayMs = retryMs.first; ; delayMs = Math.min(delayMs + retryMs.first, retryMs.most)) {
      const server = runningServer(this.#home)
      const guest = server && (await this.#enter(server))
      if (guest) return { guest, server }
      this.#startIfNeeded(server !== undefined)
      await pause(delayMs)
    }
  }

  async #enter(server: RunningServer): Promise<Guest | undefined> {
    try {
      return await Guest.enter(server)
    } catch (error) {
      if (isSilence(error)) throw complaint(this.#home, 'does not answer')
      if (!isPassing(error)) throw error
      // A server that replays its WAL after a crash says so; that may take its time.
      const replaying = error instanceof Error && 'code' in error && error.code === '57P03'
      if (replaying) this.#deadline = Date.now() + answerTimeoutMs
      return undefined
    }
  }

  #startIfNeeded(somebodyRuns: boolean): void {
    if (this.#failure) throw this.#failure
    if (Date.now() > this.#deadline) throw complaint(this.#home, 'does not answer')
    if (this.#child || Date.now() - this.#startedAt < restartDelayMs) return
    if (this.#starts >= startsMax && !somebodyRuns) throw complaint(this.#home, 'does not start')
    this.#start()
  }

  /** Detached: the server outlives us when we are killed, and ignores a key press that interrupts us. */
  #start(): void {
    const { cluster, socketDirectory, binaries, user } = this.#home
    const options = Object.entries({ ...settings, unix_socket_directories: socketDirectory })
    const parameters = ['-D', cluster, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    neutralizeStaleLock(this.#home)
    const log = openLog(this.#home)
    const child = user.run(binaries.postgres, parameters, { detached: true, stdio: ['ignore', log, log] })
    closeSync(log)
    child.once('error', (error) => (this.#failure = error))
    child.once('exit', () => (this.#child = undefined))
    child.unref()
    this.#child = child
    this.#starts += 1
    this.#startedAt = Date.now()
  }
}

async function stop(home: Home, guest: Guest): Promise<void> {
  if (!(await isLast(home, guest))) return
  const server = runningServer(home)
  if (!server) return
  process.kill(server.pid, 'SIGINT')
  const deadline = Date.now() + stopTimeoutMs
  while (runningServer(home)?.pid === server.pid) {
    if (Date.now() > deadline) throw complaint(home, 'does not stop')
    await pause(retryMs.first)
  }
}

/** Nobody leaves a server that is gone; one that recovers from a crash is asked again until it answers. */
async function isLast(home: Home, guest: Guest): Promise<boolean> {
  const deadline = Date.now() + stopTimeoutMs
  for (;;) {
    try {
      return await inTime(home, guest.leave())
    } catch (error) {
      if (!isPassing(error)) throw error
      if (!runningServer(home)) return false
      if (Date.now() > deadline) throw complaint(home, 'does not answer')
      await pause(retryMs.most)
    }
  }
}

/** A server that hangs keeps its connections, and answers nothing. */
async function inTime<Result>(home: Home, asked: Promise<Result>): Promise<Result> {
  const settled = new AbortController()
  const { signal } = settled
  const late = pause(leaveTimeoutMs, undefined, { signal }).then(() => {
    throw complaint(home, 'does not answer')
  })
  return Promise.race([asked, late]).finally(() => settled.abort())
}

function complaint(home: Home, what: string): Error {
  return new Error(`PostgreSQL in ${home.cluster} ${what}: ${logTail(home)}`)
}
