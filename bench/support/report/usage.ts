import { readFileSync } from 'node:fs'

/** What a process takes of the machine. */
export interface Usage {
  residentMegabytes(): number
  /** So far. */
  cpuMs(): number
}

/** Linux counts a hundred ticks a second. */
const msPerTick = 10

export function usageOf(pid: number): Usage {
  return {
    residentMegabytes() {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? []
      return Number(kilobytes) / 1_024
    },
    cpuMs() {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name stands in brackets and may have spaces.
      const fields = stat.slice(stat.lastIndexOf(')')).split(' ')
      return (Number(fields[12]) + Number(fields[13])) * msPerTick
    },
  }
}
