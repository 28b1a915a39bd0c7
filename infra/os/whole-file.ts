import { randomBytes } from 'node:crypto'
import { readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isRunning } from './processes.ts'

/** Names that this process is writing. */
const underWay = new Set<string>()

/**
 * Writes a file under another name first, so that nobody takes a part of it for the whole. The name is this
 * write's own: two that write the same file at once would otherwise mix what they write. A device or a pipe
 * is written as it is, and of a link the file that it names.
 */
export async function writeWhole<Result>(
  path: string,
  write: (partial: string) => Promise<Result>,
): Promise<Result> {
  const known = statSync(path, { throwIfNoEntry: false })
  if (known && !known.isFile()) return write(path)
  const target = known ? realpathSync(path) : path
  removeAbandoned(target)
  const partial = `${target}.partial-${process.pid}-${randomBytes(8).toString('hex')}@${hostname()}`
  underWay.add(partial)
  try {
    const result = await write(partial)
    renameSync(partial, target)
    return result
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  } finally {
    underWay.delete(partial)
  }
}

/** Nothing is known of processes on other machines, but that a file grows while it is written. */
const abandonedMs = 3_600_000
const partialEnding = /^\.partial-(?<pid>\d+)-[\da-f]{16}@(?<host>.+)$/

/** What killed processes have left: whoever audits the directory would ask what it is. */
function removeAbandoned(path: string): void {
  const [directory, name] = [dirname(path), basename(path)]
  ifPossible(() => {
    for (const other of readdirSync(directory).filter((each) => each.startsWith(name))) {
      const { pid, host } = partialEnding.exec(other.slice(name.length))?.groups ?? {}
      const partial = join(directory, other)
      const isOurs = host === hostname()
      const isAbandoned = isOurs ? isOver(partial, Number(pid)) : host !== undefined && isOld(partial)
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

/** Whoever may not remove what another user has left writes all the same. */
function ifPossible(work: () => void): void {
  try {
    work()
  } catch {
    // It is in nobody's way, and stays for who may remove it.
  }
}
