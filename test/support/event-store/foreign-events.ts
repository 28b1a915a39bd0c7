import { randomUUID } from 'node:crypto'
import type { ProposedRecord } from '../eventstoredb-peer/append-rules.ts'
import type { Log } from '../eventstoredb-peer/log.ts'

/** What another program writes, in two shapes. */
export const foreignEvents = {
  'in JSON': () => ({
    ...{ id: randomUUID(), type: 'Greeting', contentType: 'application/json' },
    ...{
      data: Buffer.from('{"text":"hello"}'),
      metadata: Buffer.from('{"$correlationId":"not one of ours"}'),
    },
  }),
  'in bytes': () => ({
    ...{ id: randomUUID(), type: 'Noise', contentType: 'application/octet-stream' },
    ...{ data: Buffer.from([0, 255, 1]), metadata: Buffer.alloc(0) },
  }),
} satisfies Readonly<Record<string, () => ProposedRecord>>

export type ForeignShape = keyof typeof foreignEvents
export const foreignShapes = Object.keys(foreignEvents) as readonly ForeignShape[]

/** As another program would: at the end of the stream, wherever that is. */
export function writeForeign(log: Log, stream: string, event: ProposedRecord): void {
  log.append(stream, (log.stream(stream)?.length ?? 0) - 1, [event])
}
