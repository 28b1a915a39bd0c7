import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { ifPossible } from './if-possible.ts'
import { isRunning } from './processes.ts'

/** Names that this process is writing. */
const underWay = new Set<string>()

/**
 * Writes a file under a name of this write alone first, so that nobody takes a part of it for the whole, and
 * has it on disk. Whoever may read and write it still may, and one that may not be written is not replaced. A
 * device or a pipe is written as it is, and of a link the file that it names.
 */
export async function writeWhole<Result>(
  path: string,
  write: (partial: string) => Promise<Result>,
): Promise<Result> {
  const known = statSync(path, { throwIfNoEntry: false })
  if (known && !known.isFile()) return write(path)
  if (known) closeSync(openSync(path, 'r+'))
  const target = known ? realpathSync(path) : linkedBy(path)
  removeAbandoned(dirname(target), (name) => name === basename(target))
  return asPartial(target, async (partial) => {
    if (known) closeSync(openSync(partial, 'wx', 0o600))
    const result = await write(partial)
    settle(partial, known)
    renameSync(partial, target)
    flushDirectory(dirname(target))
    return result
  })
}

/**
 * Writes a file that its owner alone may read, unless there is one: of several, whoever is first. Returns
 * whether it is this one.
 */
export async function createWhole(path: string, text: string): Promise<boolean> {
  removeAbandoned(dirname(path), (name) => name === basename(path))
  if (lstatSync(path, { throwIfNoEntry: false })) return false
  return asPartial(path, async (partial) => {
    writeFileSync(partial, text, { mode: 0o600, flush: true })
    const isFirst = linkUnlessThere(partial, path)
    rmSync(partial)
    flushDirectory(dirname(path))
    return isFirst
  })
}

/** Returns whether nothing was there. */
function linkUnlessThere(existing: string, path: string): boolean {
  try {
    linkSync(existing, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

async function asPartial<Result>(path: string, work: (partial: string) => Promise<Result>): Promise<Result> {
  const partial = `${path}.partial-${process.pid}-${randomBytes(8).toString('hex')}@${hostname()}`
  underWay.add(partial)
  try {
    return await work(partial)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  } finally {
    underWay.delete(partial)
  }
}

/** What a chain of links names, also where nothing is there yet. */
function linkedBy(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path
  return linkedBy(resolve(realpathSync(dirname(path)), readlinkSync(path)))
}

/** On disk, and for whom the file was that it replaces. */
function settle(partial: string, known: Stats | undefined): void {
  const file = openSync(partial, 'r')
  try {
    if (known) giveTo(known, file)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const sameOwner = -1

/**
 * Only root gives a file to another user. Whoever is no member of its group cannot keep that: the file's new
 * group may then do no more than everybody.
 */
function giveTo({ uid, gid, mode }: Stats, file: number): void {
  ifPossible(() => fchownSync(file, sameOwner, gid))
  ifPossible(() => fchownSync(file, uid, gid))
  const ofOthers = mode & 0o007
  const isOfGroup = fstatSync(file).gid === gid
  fchmodSync(file, isOfGroup ? mode & 0o777 : (mode & 0o707) | (ofOthers << 3))
}

/** Or the name could be lost in a power cut that the bytes survive. */
function flushDirectory(path: string): void {
  try {
    const directory = openSync(path, 'r')
    try {
      fsyncSync(directory)
    } finally {
      closeSync(directory)
    }
  } catch (error) {
    // Not every directory can be read by who may write in it, and not every file system knows this.
    if (!['EACCES', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Nothing is known of processes on other machines, but that a file grows while it is written. */
const abandonedMs = 3_600_000
const partialName = /^(?<name>.+)\.partial-(?<pid>\d+)-[\da-f]{16}@(?<host>.+)$/s

/** What killed processes have left of these files: whoever audits the directory would ask what it is. */
export function removeAbandoned(directory: string, isMeant: (name: string) => boolean): void {
  ifPossible(() => {
    for (const each of readdirSync(directory)) {
      const { name, pid, host } = partialName.exec(each)?.groups ?? {}
      if (name === undefined || !isMeant(name)) continue
      const partial = join(directory, each)
      const isAbandoned = host === hostname() ? isOver(partial, Number(pid)) : isOld(partial)
      if (isAbandoned) ifPossible(() => rmSync(partial))
    }
  })
}

/** A container that starts again has the same process id under the same name. */
function isOver(partial: string, pid: number): boolean {
  return pid === process.pid ? !underWay.has(partial) : !isRunning(pid)
}

function isOld(path: string): boolean {
  const known = statSync(path, { throwIfNoEntry: false })
  return known !== undefined && Date.now() - known.mtimeMs > abandonedMs
}
