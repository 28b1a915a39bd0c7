import type { Comparison, Digest } from '../../../infra/history/digest.ts'
import { counted, grouped, table } from '../terminal/output.ts'

export function digestText({ events, streams, position, sha256 }: Digest): string {
  return `${counted(events, 'event')} in ${counted(streams, 'stream')} up to position ${position}\nsha256 ${sha256}`
}

/** Both sides as they were read back, and where they differ. */
export function comparisonText({ source, target, differences }: Comparison): string {
  const sides = [
    { side: 'source', ...source },
    { side: 'copy', ...target },
  ]
  const rows = sides.map(({ side, events, streams, sha256 }) => ({ side, events, streams, sha256 }))
  const verdict =
    differences.length === 0
      ? `Both hold the same ${counted(source.events, 'event')}, in the same order, at the same positions.`
      : `They differ, first of all here:\n${differences.map(sentence).join('\n')}`
  return `${table(rows, '')}\n\n${verdict}`
}

function sentence({ stream, revision, position, problem }: Comparison['differences'][number]): string {
  return `  ${stream}, revision ${revision} (position ${grouped(position)}): ${problem}`
}
