import type pg from 'pg'
import type { Disclosure, LogProofs, Receipt } from '../../../packages/kernel/ports/proofs.ts'
import type { EventStore, StoredEvent } from '../../../packages/kernel/ports.ts'
import { blindOf, open } from '../../event-store/sealed/box.ts'
import { committedEvent } from '../../transparency/commitment.ts'
import { TileProofs } from '../../transparency/proofs.ts'
import type { SubjectKeys } from '../privacy/subject-keys.ts'
import { leafIndexes } from './leaf-indexes.ts'
import { cosignatures, lastCheckpoint, readTile, shownCheckpoint } from './tree-store.ts'

export interface LogProofsOptions {
  readonly pool: pg.Pool
  /** Events as they are stored. */
  readonly store: Pick<EventStore, 'readAt'>
  readonly keys: Pick<SubjectKeys, 'forOpening'>
}

/** Proofs from the tiles that the notary has written. */
export function logProofs({ pool, store, keys }: LogProofsOptions): LogProofs {
  const indexOf = leafIndexes(pool)
  return {
    indexOf,
    async receiptOf({ position }): Promise<Receipt | undefined> {
      const index = await indexOf(position)
      if (index === undefined) return undefined
      const shown = await shownCheckpoint(pool)
      const checkpoint = shown && shown.size > index ? shown : await lastCheckpoint(pool)
      if (!checkpoint) return undefined
      const event = await store.readAt(position)
      if (event?.position !== position) throw new Error(`the log has no event at position ${position}`)
      const proofs = new TileProofs(checkpoint.size, async (name) => {
        const tile = await readTile(pool, name)
        if (!tile) throw new Error(`the tree of the log has no tile ${name.level}/${name.index}`)
        return tile
      })
      const proof = await proofs.inclusion(index)
      return {
        event: committedEvent(event),
        salt: event.metadata.salt ?? '',
        personal: await disclosed(event, keys),
        index,
        proof: proof.map((hash) => hash.toString('base64')),
        checkpoint: checkpoint.note + (await cosignatures(pool, checkpoint.size)).join(''),
      }
    },
  }
}

async function disclosed(
  { id, metadata: { sealed, salt = '' } }: StoredEvent,
  keys: LogProofsOptions['keys'],
): Promise<Disclosure | null> {
  if (!sealed) return null
  const [key] = await keys.forOpening([sealed.key])
  if (!key) return null
  return { content: open(key, sealed.box, { salt, id }), blind: blindOf(key, salt) }
}
