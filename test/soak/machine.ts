import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Memory of a process as Linux counts it, in MB. */
export interface Memory {
  /** All that is in memory. */
  readonly resident: number
  /** Without files and without what it shares. */
  readonly own: number
}

export interface Running {
  readonly pid: number
  readonly command: string
}

export function memoryOf(pid: number): Memory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const megabytes = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1_024
    return { resident: megabytes('VmRSS'), own: megabytes('RssAnon') }
  } catch {
    // It has ended.
    return undefined
  }
}

export function childrenOf(parent: number): readonly Running[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, after = ''] = readFileSync(`/proc/${name}/stat`, 'utf8').split(/\) (?=\S )/)
        if (Number(after.split(' ')[1]) !== parent) return []
        return [
          { pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') },
        ]
      } catch {
        return []
      }
    })
}

/**
 * What all processes of the embedded server have of their own. What they share is its buffers, which fill up
 * to their configured size and never beyond.
 */
export function postgresMemory(dataDirectory: string): number | undefined {
  const file = join(dataDirectory, 'postgres/postmaster.pid')
  if (!existsSync(file)) return undefined
  const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0])
  const pids = [postmaster, ...childrenOf(postmaster).map(({ pid }) => pid)]
  return pids.reduce((sum, pid) => sum + (memoryOf(pid)?.own ?? 0), 0)
}
