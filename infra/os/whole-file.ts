import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isRunning } from './processes.ts'

/**
 * Writes a file under another name first, so that nobody takes a part of it for the whole. The name is this
 * process's own: two that write the same file at once would otherwise mix what they write.
 */
export async function writeWhole<Result>(
  path: string,
  write: (partial: string) => Promise<Result>,
): Promise<Result> {
  removeAbandoned(path)
  const partial = `${path}.${hostname()}.${process.pid}${ending}`
  try {
    const result = await write(partial)
    renameSync(partial, path)
    return result
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

/** Nothing is known of processes on other machines, but that a file grows while it is written. */
const abandonedMs = 3_600_000
const ending = '.partial'

/** What killed processes have left: whoever audits the directory would ask what it is. */
function removeAbandoned(path: string): void {
  const directory = dirname(path)
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(`${basename(path)}.`) || !name.endsWith(ending)) continue
    const partial = join(directory, name)
    const age = Date.now() - (statSync(partial, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    const ours = `${basename(path)}.${hostname()}.`
    const isOver = name.startsWith(ours) && !isRunning(Number(name.slice(ours.length, -ending.length)))
    if (isOver || age > abandonedMs) rmSync(partial, { force: true })
  }
}
