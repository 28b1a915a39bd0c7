import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { readBackup, type SavedHistory } from '../../infra/backup/read.ts'
import { noteVerifier } from '../../infra/transparency/signed-note.ts'
import { deciders } from '../../packages/domain/index.ts'
import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'
import { commandOf } from './arguments.ts'
import { publishedLog } from '../audit/published-log.ts'
import { TreeAudit, type TreeFinding } from '../audit/tree-audit.ts'
import { verifyLog, type Verified } from '../audit/verify.ts'
import { CommandFailedError, exitCodes } from './failure.ts'
import { counted, grouped, print, progress, type Printing } from './output.ts'

export function addAudit(program: Command): void {
  const audit = program.command('audit').description('proofs over the log, checked without its database')
  commandOf(audit, 'verify <backup>', 'check every event of a backup against what the log has signed')
    .option('--since <file>', 'a checkpoint that you noted before: the log must go on from it')
    .option('--key <verifier key>', 'trust this key alone, and not those that the backup brings along')
    .option('--note <file>', 'write the newest checkpoint here, for the next time')
    .addHelpText(
      'after',
      '\nExample:\n  ./ikw audit verify /backups/2026-11 --since last.txt --note last.txt\n',
    )
    .action(verify)
}

interface VerifyOptions extends Printing {
  readonly since?: string
  readonly key?: string
  readonly note?: string
}

interface Audited {
  readonly events: number
  readonly unsigned: number
  readonly root: string
  readonly findings: readonly TreeFinding[]
  readonly books: Verified
}

async function verify(directory: string, options: VerifyOptions): Promise<void> {
  const saved = readBackup(directory)
  if (!saved)
    throw new CommandFailedError(`There is no whole backup in ${directory}: its manifest.json is missing.`)
  if (options.since !== undefined && !existsSync(options.since))
    throw new CommandFailedError(`${options.since} is not there: --since names a file with a checkpoint.`)
  const published = await publishedLog(saved)
  const trusted = options.key === undefined ? published.verifiers : [noteVerifier(options.key)]
  const noted = options.since === undefined ? undefined : readFileSync(options.since, 'utf8')
  const tree = new TreeAudit({ ...published, verifiers: trusted }, noted)
  const books = await auditBooks(saved, tree)
  const unsigned = tree.end()
  const { size: events, findings } = tree
  const audited: Audited = { events, unsigned, root: tree.root().toString('base64'), findings, books }
  print(audited, options, () => auditText(audited))
  if (findings.length + books.violations.length > 0) process.exitCode = exitCodes.found
  else if (options.note !== undefined) keep(options.note, published.checkpoints.at(-1))
}

/** Events are read once: each goes into the tree, and then into the books. */
async function auditBooks({ source, manifest }: SavedHistory, tree: TreeAudit): Promise<Verified> {
  const bar = progress('verifying')
  const readOn = async function* (after: number) {
    for await (const events of source.pages(after, Infinity)) {
      for (const event of events) tree.apply(event)
      yield events
    }
  }
  const store: Pick<EventStore, 'readOn' | 'readStream' | 'head' | 'irregularities'> = {
    readOn,
    readStream: (stream, from, limit = Infinity) => eventsOf(source, { stream, from, limit }),
    head: async () => manifest.position,
    irregularities: async () => [],
  }
  try {
    const now = new Date(manifest.at)
    return await verifyLog({ store, deciders, policiesThrough: 0, now, onProgress: bar.show })
  } finally {
    bar.end()
  }
}

interface Wanted {
  readonly stream: string
  readonly from: number
  readonly limit: number
}

/** Only corrections are looked up like this, and they are few. */
async function eventsOf(
  source: SavedHistory['source'],
  { stream, from, limit }: Wanted,
): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = []
  for await (const events of source.pages(0, Infinity)) {
    found.push(...events.filter((event) => event.stream === stream && event.revision >= from))
    if (found.length >= limit) break
  }
  return found.slice(0, Math.min(found.length, limit))
}

function keep(file: string, checkpoint: string | undefined): void {
  if (checkpoint === undefined) throw new CommandFailedError('The log has signed no checkpoint yet.')
  writeFileSync(file, checkpoint)
}

function auditText({ events, unsigned, root, findings, books }: Audited): string {
  const problems = [
    ...findings.map(({ leaf, problem }) => (leaf === undefined ? problem : `leaf ${leaf}: ${problem}`)),
    ...books.violations.map(({ rule, problem }) => `${rule}: ${problem}`),
  ]
  const verdict =
    problems.length === 0
      ? 'Every event is what was signed, and the books agree with themselves.'
      : `${counted(problems.length, 'finding')}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`
  const open = unsigned === 0 ? '' : `, the last ${unsigned} not signed yet`
  return [
    `${counted(events, 'event')}${open}; root ${root}`,
    `${grouped(books.entries)} journal entries in ${counted(books.books, 'book')}`,
    verdict,
  ].join('\n')
}
