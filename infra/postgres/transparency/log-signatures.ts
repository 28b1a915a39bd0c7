import type { LogSignatures } from '../../../packages/kernel/ports/proofs.ts'
import { writeNote } from '../../transparency/signed-note.ts'
import { currentSigner, type LogKeysOptions } from './log-keys.ts'
import { lastCheckpoint } from './tree-store.ts'

/** What the log signs besides its checkpoints, with the newest of its keys. */
export function logSignatures(options: Pick<LogKeysOptions, 'pool' | 'vault' | 'baseUrl'>): LogSignatures {
  return {
    async rootOver(position) {
      const last = await lastCheckpoint(options.pool)
      return last && last.position >= position ? { size: last.size, root: last.root } : undefined
    },
    async sign(textOf) {
      const signer = await currentSigner(options)
      const text = textOf(signer.name)
      return writeNote({ text, signatures: [signer.sign(text)] })
    },
  }
}
