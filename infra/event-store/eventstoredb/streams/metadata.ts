import type { Irregularity } from '../../../../packages/kernel/ports.ts'
import { parsed } from '../messages/json-bytes.ts'

/** What the server writes into the metadata of a soft-deleted stream. */
const softDeleted = 9_007_199_254_740_991

/** What the metadata hides of its stream; undefined when all of it is visible. */
export function hiddenBy(metadata: Uint8Array): string | undefined {
  const { $tb, $maxCount, $maxAge } = fields(metadata)
  if (typeof $tb === 'number' && $tb >= softDeleted) return 'was deleted'
  if (typeof $tb === 'number' && $tb > 0) return `is cut: its metadata hide what is before revision ${$tb}`
  if (typeof $maxCount === 'number') return `shows its last ${$maxCount} events only, by its metadata`
  if (typeof $maxAge === 'number') return `shows events of the last ${$maxAge} s only, by its metadata`
  return undefined
}

/** The same for audits, which report anything unusual: our streams need no metadata. */
export function irregularityOf(stream: string, metadata: Uint8Array): Irregularity | undefined {
  const problem = hiddenBy(metadata)
  if (problem !== undefined) return { stream, problem }
  const names = Object.keys(fields(metadata))
  return names.length > 0 ? { stream, problem: `has metadata of its own (${names.join(', ')})` } : undefined
}

function fields(metadata: Uint8Array): Readonly<Record<string, unknown>> {
  const found = parsed(metadata)
  return typeof found === 'object' && found !== null ? (found as Readonly<Record<string, unknown>>) : {}
}
