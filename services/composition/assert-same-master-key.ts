import { ConfigurationError } from '../../infra/configuration.ts'
import { indexKey, indexKeyContext, indexKeyId } from '../../packages/domain/claims/index-key.ts'
import { readState } from '../../packages/kernel/history.ts'
import { DamagedStreamError, type EventStore, type Vault } from '../../packages/kernel/ports.ts'

/**
 * Throws a sentence unless this process opens what the log's processes have sealed: whatever it sealed itself
 * none of the others could open. A log from before anything was sealed goes with any key.
 */
export async function assertSameMasterKey(store: EventStore, vault: Vault): Promise<void> {
  const sealed = await sealedIndexKey(store)
  if (sealed === null) return
  try {
    vault.open(sealed, indexKeyContext)
  } catch (error) {
    throw new ConfigurationError(
      `This is not the master key of this log (${(error as Error).message}): set MASTER_KEY, or DATA_DIR to ` +
        'the directory with its master.key',
    )
  }
}

/** Damage is confined to what needs the damaged stream. */
async function sealedIndexKey(store: EventStore): Promise<string | null> {
  try {
    return (await readState(store, indexKey, indexKeyId)).sealed
  } catch (error) {
    if (error instanceof DamagedStreamError) return null
    throw error
  }
}
