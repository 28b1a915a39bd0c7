import type { ChildProcess } from 'node:child_process'
import type { Load, LoadReply, LoadResult, LoadStop } from './load.ts'
import { endChild, forkChild, message, startProgram } from '../children.ts'
import type { Measured } from '../report/measured.ts'

/** The load generator's process. It does one thing at a time. */
export class LoadGenerator {
  #child: ChildProcess | undefined

  /** Until its measured time has passed, or until something else has ended. */
  async run(load: Load, until?: Promise<unknown>): Promise<LoadResult> {
    const child = (this.#child ??= forkChild('../load'))
    child.send(load)
    const stop = () => void child.send({ stop: true } satisfies LoadStop)
    until?.then(stop, stop)
    const reply = await message<LoadReply>(child)
    if ('failure' in reply) throw new Error(`the load generator has failed: ${reply.failure}`)
    return reply.result
  }

  async close(): Promise<void> {
    if (this.#child) await endChild(this.#child)
  }
}

export function measured({ perSecond, p50Ms, p99Ms, cpuPercent }: LoadResult): Measured {
  return { value: perSecond, p50Ms, p99Ms, generatorPercent: cpuPercent }
}

/** What the generator reaches against a server that does nothing, and the CPU it takes for that. */
export async function generatorMaximum(generator: LoadGenerator): Promise<LoadResult> {
  const { child, port } = await startProgram('../peers/nothing', {})
  try {
    const plan = { flow: 'nothing' } as const
    return await generator.run({ port, connections: 64, plan, warmMs: 500, measuredMs: 1_500 })
  } finally {
    await endChild(child)
  }
}
