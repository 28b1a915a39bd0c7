import { blindId, newIndexKey } from '../../infra/secrets/blind-index.ts'
import { indexKey, indexKeyContext, indexKeyId } from '../../packages/domain/claims/index-key.ts'
import type { BlindIndex } from '../../packages/kernel/blind-index.ts'
import type { Executor } from '../../packages/kernel/execution/execute.ts'
import type { NewId, Vault } from '../../packages/kernel/ports.ts'

interface Parts {
  readonly executor: Executor
  readonly vault: Vault
  readonly newId: NewId
}

/** No merchant's key: a subject of its own. */
export const indexKeyOwner = { merchant: indexKeyId, livemode: false }

/**
 * The key is in the log, sealed by the master key, so it travels with every copy of the log and stays the
 * same when the master key is rotated. The first process that needs it creates it.
 */
export function openBlindIndex({ executor, vault, newId }: Parts): BlindIndex {
  let key: Promise<Buffer> | undefined
  const load = async () => {
    const command = {
      type: 'MakeIndexKey',
      data: { sealed: vault.seal(newIndexKey(), indexKeyContext) },
    } as const
    const envelope = { ...indexKeyOwner, actor: 'service', correlation: newId() }
    const { state } = await executor.send(indexKey, indexKeyId, command, envelope)
    return Buffer.from(vault.open(state.sealed!, indexKeyContext), 'base64')
  }
  return async (name) => {
    key ??= load().catch((error: unknown) => {
      key = undefined
      throw error
    })
    return blindId(await key, name)
  }
}
