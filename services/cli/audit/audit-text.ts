import type { Verified } from '../../audit/verify.ts'
import type { TreeFinding } from '../../audit/tree-audit.ts'
import { counted, grouped } from '../terminal/output.ts'

/** What an audit of a backup or of a service has found. */
export interface Audited {
  readonly events: number
  readonly unsigned: number
  readonly cosignatures: {
    readonly checked: number
    /** By witness, over how many events. */
    readonly through: Readonly<Record<string, number>>
    readonly unchecked: readonly string[]
    /** Witnesses that have signed none of the checkpoints that are shown. */
    readonly silent: readonly string[]
  }
  readonly root: string
  readonly findings: readonly TreeFinding[]
  /** Of all findings and violations, also those that are not named. */
  readonly found: number
  /** Left out where no events are shown. */
  readonly books?: Verified
  readonly checkpoint: string | undefined
}

export function problemsOf({ findings, books }: Audited): readonly string[] {
  return [
    ...findings.map(({ leaf, problem }) => (leaf === undefined ? problem : `leaf ${leaf}: ${problem}`)),
    ...(books?.violations ?? []).map(({ rule, problem }) => `${rule}: ${problem}`),
  ]
}

export function auditText(audited: Audited): string {
  const { events, unsigned, root, books, cosignatures } = audited
  const { through, unchecked, silent } = cosignatures
  const problems = problemsOf(audited)
  const fine = books
    ? `Every event${unsigned === 0 ? '' : ' but those'} is what was signed, and the books agree with themselves.`
    : 'The tree is what was signed. Its events are not public: a backup shows whether its leaves are theirs.'
  const verdict =
    problems.length === 0
      ? fine
      : `${counted(audited.found, 'finding')}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`
  const open = unsigned === 0 ? '' : `, the last ${unsigned} not signed yet`
  return [
    `${counted(events, 'event')}${open}; root ${root}`,
    ...(books ? [`${grouped(books.entries)} journal entries in ${counted(books.books, 'book')}`] : []),
    ...Object.entries(through).map(([name, size]) => `cosigned by ${name} over ${grouped(size)} events`),
    ...(unchecked.length > 0
      ? [`Not checked: what ${unchecked.join(', ')} signed, for --witness has no such key.`]
      : []),
    // Of a service one checkpoint is seen; of a backup this is a finding.
    ...(books ? [] : silent).map((name) => `not cosigned by ${name}, which may be some seconds behind`),
    verdict,
  ].join('\n')
}
