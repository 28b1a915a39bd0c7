import { streamName, type AnyDecider } from '../../../packages/kernel/decider.ts'
import type { Remembered } from '../../../packages/kernel/execution/options.ts'
import { foldStored } from '../../../packages/kernel/history.ts'
import { owns } from '../../../packages/kernel/owner.ts'
import { noStream, type StoredEvent } from '../../../packages/kernel/ports.ts'
import type { Documents } from '../../../packages/kernel/projection.ts'
import type { ReadStore } from '../../../packages/kernel/ports/reads.ts'
import type { AnyRequest } from '../http/request.ts'

/**
 * The current state of one stream: what the cache or read model knows, plus what the stream has beyond that,
 * which is usually nothing. `undefined` when there is none, or it belongs to another owner or the other
 * environment.
 */
export async function currentState(
  request: Pick<AnyRequest, 'owner' | 'dependencies'>,
  from: Documents<never>,
  id: string,
): Promise<unknown> {
  return (await currentDocument(request, from, id))?.state
}

/** The same with its revision, and the log position of its last event where that is known. */
export async function currentDocument(
  request: Pick<AnyRequest, 'owner' | 'dependencies'>,
  from: Documents<never>,
  id: string,
): Promise<CurrentDocument | undefined> {
  const { executor, reads } = request.dependencies
  const known = executor.remembered(from.decider, id) ?? (await documentOf(reads, from, id))
  return currentStream(request, { decider: from.decider, id, known })
}

/** The same without a read model: unless the cache knows the stream, it is read from its beginning. */
export async function currentStream(
  { owner, dependencies }: Pick<AnyRequest, 'owner' | 'dependencies'>,
  { decider, id, known = dependencies.executor.remembered(decider, id) }: StreamKnown,
): Promise<CurrentDocument | undefined> {
  if (known && !owns(known.owner, owner)) return undefined
  const tail = await dependencies.store.readStream(
    streamName(decider.category, id),
    (known?.revision ?? noStream) + 1,
  )
  if (!known && !(tail[0] && owns(tail[0].metadata, owner))) return undefined
  const { revision, position } = tail.at(-1) ?? known!
  return { state: stateAfter(decider, tail, known?.state), revision, position }
}

interface StreamKnown {
  readonly decider: AnyDecider
  readonly id: string
  readonly known?: Remembered | undefined
}

interface CurrentDocument {
  readonly state: unknown
  readonly revision: number
  readonly position: number | undefined
}

async function documentOf(reads: ReadStore, from: Documents<never>, id: string) {
  const row = await reads.document(from.name, id)
  return row && { state: row.state, revision: row.revision, position: row.position, owner: row }
}

function stateAfter(decider: AnyDecider, tail: readonly StoredEvent[], known: unknown): unknown {
  return tail.length === 0 ? known : foldStored(decider, tail, known ?? decider.initial())
}
