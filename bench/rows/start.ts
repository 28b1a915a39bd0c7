import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { Measured } from '../support/report/measured.ts'
import { root } from '../support/root.ts'

export const start: Row = {
  name: 'start',
  ours: '`make run` until /readyz says yes, on the data of an earlier run',
  peer: 'the same for the first time: a new database server, all tables, the first merchant',
  unit: 's',
  target: { most: 1 },
  valueMost: 2,
  peerMost: 6,
  prepare,
}

const lookEveryMs = 10

async function prepare(bench: Bench): Promise<Contest> {
  const known = join(bench.directory, 'start-known')
  await started(known)
  return {
    ours: () => started(known),
    peer: (round) => started(join(bench.directory, `start-new-${round}`)),
    note: () => 'ours with data, and for the first time; everything is built already',
    close: async () => undefined,
  }
}

/** Starts the service on a data directory, waits until it is ready, and stops it. */
async function started(dataDirectory: string): Promise<Measured> {
  const { PATH = '', HOME = '' } = process.env
  const began = performance.now()
  const child = spawn('make', ['--silent', 'run'], {
    cwd: root,
    env: { PATH, HOME, PORT: '0', DATA_DIR: dataDirectory },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const port = await portOf(child)
  while (!(await isReady(port))) await pause(lookEveryMs)
  const value = (performance.now() - began) / 1_000
  const ended = once(child, 'close')
  // Make does not forward signals, so the whole process group gets it.
  process.kill(-child.pid!, 'SIGTERM')
  await ended
  return { value }
}

async function portOf({ stdout, stderr }: ChildProcess): Promise<string> {
  let output = ''
  stderr!.setEncoding('utf8').on('data', (text: string) => (output += text))
  for await (const text of stdout!.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += String(text)
    const [, port] = /http:\/\/localhost:(\d+)/.exec(output) ?? []
    if (port) {
      stdout!.resume()
      return port
    }
  }
  throw new Error(`the service has ended before it listened: ${output}`)
}

async function isReady(port: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
  return answer?.status === 200
}
