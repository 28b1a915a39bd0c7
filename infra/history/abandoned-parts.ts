import { lstat, readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'

export const partsPrefix = 'ikw-parts-'

const touchEveryMs = 10_000
/** A process that has been suspended for longer finds its files gone, and begins again. */
const abandonedAfterMs = 120_000

/** Shows others that a directory is in use, until the function that is returned is called. */
export function whileInUse(directory: string, everyMs = touchEveryMs): () => void {
  const touch = () => {
    const now = new Date()
    utimes(directory, now, now).catch(() => undefined)
  }
  const touching = setInterval(touch, everyMs).unref()
  return () => clearInterval(touching)
}

/**
 * Removes directories of processes that were killed. Process ids say nothing where containers share a
 * directory, so that one is in use is shown by its time; those of other users are theirs to remove.
 */
export async function removeAbandonedParts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(partsPrefix)) continue
    const path = join(directory, name)
    // It may be gone, or be somebody's who lets nobody in.
    if (await isAbandoned(path).catch(() => false))
      await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const { mtimeMs, uid } = await lstat(path)
  return uid === process.getuid?.() && Date.now() - mtimeMs > abandonedAfterMs
}
