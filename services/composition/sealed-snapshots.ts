import { deciders } from '../../packages/domain/index.ts'
import type { Snapshot, Snapshots, Vault } from '../../packages/kernel/ports.ts'

const sealed = new Set(deciders.filter(({ snapshot }) => snapshot?.isSealed).map(({ category }) => category))

/** Keeps what is secret or personal sealed, as it is in events. What no key opens any more is not there. */
export function sealedSnapshots(snapshots: Snapshots, vault: Vault): Snapshots {
  return {
    async load(stream, version) {
      const kept = await snapshots.load(stream, version)
      return kept && isSealed(stream) ? opened(kept, stream) : kept
    },
    save(stream, version, snapshot) {
      if (!isSealed(stream)) return snapshots.save(stream, version, snapshot)
      const state = vault.seal(JSON.stringify(snapshot.state), contextOf(stream))
      return snapshots.save(stream, version, { ...snapshot, state })
    },
  }

  function opened({ revision, state }: Snapshot, stream: string): Snapshot | undefined {
    try {
      return { revision, state: JSON.parse(vault.open(String(state), contextOf(stream))) as unknown }
    } catch {
      return undefined
    }
  }
}

function isSealed(stream: string): boolean {
  return sealed.has(stream.slice(0, stream.indexOf('-')))
}

function contextOf(stream: string): string {
  return `snapshot/${stream}`
}
