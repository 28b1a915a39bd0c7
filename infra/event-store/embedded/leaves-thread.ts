import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../os/thread-priority.ts'
import { Leaves, type LogPart } from '../../transparency/leaves.ts'
import { copyLog } from './copy.ts'
import type { LeavesMessage } from './leaves-ahead.ts'
import { openNewReadPool } from './session.ts'

// A thread of `leavesAhead`: it answers each part of the log with its leaves, one after the other. An error
// ends it.

lowerThreadPriority()
const { url } = workerData as { readonly url: string }
const pool = openNewReadPool(url)
let last = Promise.resolve()
parentPort!.on('message', (part: LogPart) => (last = last.then(() => answer(part))))

async function answer({ after, through }: LogPart): Promise<void> {
  const leaves = new Leaves()
  for await (const events of copyLog(pool, after, through)) for (const event of events) leaves.add(event)
  const { positions, commitments } = leaves
  parentPort!.postMessage({ positions, commitments } satisfies LeavesMessage, [
    commitments.buffer as ArrayBuffer,
  ])
}
