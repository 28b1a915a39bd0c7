import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { DamagedBackupError, readBackup, type SavedHistory } from '../../../infra/backup/read.ts'
import { RunningDigest } from '../../../infra/history/digest.ts'
import { MalformedNoteError, noteVerifier } from '../../../infra/transparency/signed-note.ts'
import { rotateLogKey } from '../../../infra/postgres/transparency/log-keys.ts'
import { logKey, logKeyId } from '../../../packages/domain/log-keys/log-key.ts'
import { withRuntime } from '../dependencies.ts'
import { deciders } from '../../../packages/domain/index.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import type { PublishedLog } from '../../../infra/transparency/published-log.ts'
import { publishedLog } from '../../audit/published-log.ts'
import { remoteLog, RemoteLogError } from '../../audit/remote-log.ts'
import { hashesOf } from '../../../infra/transparency/tiles.ts'
import { TreeAudit, type TreeFinding } from '../../audit/tree-audit.ts'
import { verifyLog, type Verified } from '../../audit/verify.ts'
import { monthFileFindings } from './audit-files.ts'
import { verifyReceiptFile } from './audit-receipt.ts'
import { auditText, problemsOf, type Audited } from './audit-text.ts'
import { commandOf } from '../terminal/arguments.ts'
import { CommandFailedError, exitCodes } from '../terminal/failure.ts'
import { print, progress, type Printing } from '../terminal/output.ts'

export function addAudit(program: Command): void {
  const audit = program.command('audit').description('proofs over the log, checked without its database')
  commandOf(
    audit,
    'verify [place]',
    'check a backup, event by event, or a running service at https://…, against what the log has signed',
  )
    .option('--since <file>', 'a checkpoint that you noted before: the log must go on from it')
    .option('--receipt <file>', 'check this receipt, with nothing but the keys of --key')
    .option('--key <verifier keys>', 'trust these keys alone, and not those that the log brings along')
    .option('--witness <verifier keys>', 'check the cosignatures of these witnesses too')
    .option('--note <file>', 'write the newest checkpoint here, for the next time')
    .option('--files <directory>', 'files of closed months: each must be as it was signed')
    .addHelpText(
      'after',
      '\nExample:\n  ./ikw audit verify /backups/2026-11 --since last.txt --note last.txt\n',
    )
    .action(verify)
  commandOf(
    audit,
    'rotate-key',
    'sign the log with a new key from now on, announced in the log by the old one',
  ).action(rotateKey)
}

interface VerifyOptions extends Printing {
  readonly since?: string
  readonly receipt?: string
  readonly key?: string
  readonly witness?: string
  readonly note?: string
  readonly files?: string
}

async function verify(place: string | undefined, options: VerifyOptions): Promise<void> {
  const { json } = options
  const printing = { ...(json && { json }) }
  const [keys, witnesses] = [options.key, options.witness].map(keysIn)
  if (options.receipt !== undefined)
    return verifyReceiptFile({ ...printing, text: textIn(options.receipt, '--receipt'), keys: keys ?? [] })
  if (place === undefined)
    throw new CommandFailedError('What is to be checked? A backup, https://… or --receipt <file>.')
  const noted = options.since === undefined ? undefined : textIn(options.since, '--since')
  const audited = await auditOf(place, { keys, witnesses, noted, files: options.files }).catch(
    (error: unknown) => {
      // It comes from outside: what cannot be read is said, and is no fault of this program.
      if (unreadable.some((kind) => error instanceof kind))
        throw new CommandFailedError(`Nothing was checked: ${(error as Error).message}.`)
      throw error
    },
  )
  const { checkpoint, ...shown } = audited
  print(shown, options, () => `${auditText(audited)}${ownWord(options)}`)
  if (problemsOf(audited).length > 0) process.exitCode = exitCodes.found
  else if (options.note !== undefined) keep(options.note, checkpoint)
}

const unreadable = [MalformedNoteError, RemoteLogError, DamagedBackupError]

interface Trust {
  readonly keys: readonly string[] | undefined
  readonly witnesses: readonly string[] | undefined
  readonly noted: string | undefined
  /** Where files of closed months are. */
  readonly files: string | undefined
  readonly signedBefore?: Date
}

/** A notary signs about once a second. */
const signedWithinMs = 60_000

function auditOf(place: string, trust: Trust): Promise<Audited> {
  return /^https?:\/\//.test(place) ? auditService(place, trust) : auditBackup(place, trust)
}

async function auditBackup(directory: string, trust: Trust): Promise<Audited> {
  const saved = readBackup(directory)
  if (!saved)
    throw new CommandFailedError(`There is no whole backup in ${directory}: its manifest.json is missing.`)
  const published = await publishedLog(saved)
  const signedBefore = new Date(Date.parse(saved.manifest.at) - signedWithinMs)
  const tree = treeAudit(published, { ...trust, signedBefore })
  const books = await auditBooks(saved, tree)
  const result = await treeResult(tree, published, trust)
  const { events, position } = saved.manifest
  const last = books.position
  const told = `the backup has ${result.events} events up to position ${last}, and its manifest.json tells of ${events} up to ${position}`
  const isTold = result.events === events && last === position
  // What follows from changed events is not told beside them.
  const isChanged = tree.findings.length > 0 || !isTold
  const others = [
    ...result.cosignatures.silent.map((name) => ({ problem: `${name} has signed none of the checkpoints` })),
    ...(isTold ? [] : [{ problem: told }]),
    ...(isChanged ? [] : await digestFindings(saved, books)),
    ...(await monthFileFindings(trust.files, tree.months.closings)),
  ]
  const broken = Object.values(books.counts).reduce((total, count) => total + count, 0)
  const found = result.found + others.length + broken
  return { ...result, findings: [...result.findings, ...others], found, books }
}

async function digestFindings(saved: SavedHistory, { sha256 }: Books): Promise<readonly TreeFinding[]> {
  const told = saved.manifest.sha256
  const problems = [
    ...(told === undefined || told === sha256 ? [] : ['events.ndjson.gz has another sha256 than']),
    ...((await saved.isBookkeepingKept()) ? [] : ['bookkeeping.ndjson.gz is not what']),
  ]
  return problems.map((problem) => ({ problem: `${problem} manifest.json tells of` }))
}

/** Only the tree is public: whether its leaves are right is for those to say who have the events. */
async function auditService(url: string, trust: Trust): Promise<Audited> {
  if (trust.files !== undefined)
    throw new CommandFailedError('A service shows no events: --files goes with a backup.')
  const published = await remoteLog(url, trust.keys)
  const tree = treeAudit(published, trust)
  const bar = progress('verifying')
  try {
    for await (const { commitments } of published.bundles()) {
      for (const commitment of hashesOf(commitments)) await tree.add(commitment)
      bar.show(tree.size, published.size)
    }
  } finally {
    bar.end()
  }
  return treeResult(tree, published, trust)
}

function treeAudit(published: PublishedLog, { keys, witnesses, noted, signedBefore }: Trust): TreeAudit {
  return new TreeAudit(published, {
    ...(keys && { keys }),
    ...(witnesses && { witnesses }),
    ...(signedBefore !== undefined && { signedBefore }),
    ...(noted !== undefined && { noted }),
  })
}

async function treeResult(tree: TreeAudit, published: PublishedLog, { witnesses = [] }: Trust) {
  const unsigned = await tree.end()
  let checkpoint: string | undefined
  for await (const { note } of published.checkpoints()) checkpoint = note
  const { size: events, cosignatures } = tree
  const { checked, through, unchecked } = cosignatures
  const silent = witnesses.map((key) => noteVerifier(key).name).filter((name) => !through.has(name))
  return {
    events,
    cosignatures: { checked, through: Object.fromEntries(through), unchecked: [...unchecked], silent },
    unsigned,
    root: tree.root().toString('base64'),
    findings: tree.findings,
    found: tree.found,
    checkpoint,
  }
}

interface Books extends Verified {
  /** Of the last event. */
  readonly position: number
  /** Of all events, as `ikw backup` writes it into the manifest. */
  readonly sha256: string
}

/** Events are read once: each goes into the tree, and then into the books. */
async function auditBooks({ source, manifest }: SavedHistory, tree: TreeAudit): Promise<Books> {
  const bar = progress('verifying')
  const digest = new RunningDigest()
  const readOn = async function* (after: number) {
    for await (const events of source.pages(after, Infinity)) {
      await tree.apply(events)
      for (const event of events) digest.add(event)
      yield events
    }
  }
  const store = {
    readOn,
    eventsOf: (streams: ReadonlySet<string>) => eventsOf(source, streams),
    // Also what stands behind the end that the manifest tells of.
    head: async () => Infinity,
    irregularities: async () => [],
  }
  try {
    const now = new Date(manifest.at)
    const onProgress = (position: number) => bar.show(position, manifest.position)
    const verified = await verifyLog({ store, deciders, policiesThrough: 0, now, onProgress })
    const { position, sha256 } = digest.result()
    return { ...verified, position, sha256 }
  } finally {
    bar.end()
  }
}

async function* eventsOf(
  source: SavedHistory['source'],
  streams: ReadonlySet<string>,
): AsyncGenerator<readonly StoredEvent[], void> {
  for await (const events of source.pages(0, Infinity))
    yield events.filter(({ stream }) => streams.has(stream))
}

function textIn(file: string, option: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8')
  throw new CommandFailedError(`${file} is not there: ${option} names a file.`)
}

function keep(file: string, checkpoint: string | undefined): void {
  if (checkpoint === undefined) throw new CommandFailedError('The log has signed no checkpoint yet.')
  writeFileSync(file, checkpoint)
}

async function rotateKey(options: Printing): Promise<void> {
  const key = await withRuntime(({ postgres: { pool }, dependencies: { vault, executor, newId } }) =>
    rotateLogKey({ pool, vault }, async (note) => {
      const envelope = { platform: true, actor: 'cli', correlation: newId() } as const
      const command = { type: 'AnnounceLogKey', data: { note } } as const
      return (await executor.send(logKey, logKeyId, command, envelope)).position
    }),
  )
  print({ key }, options, () => `The log is signed with a new key from now on. Tell its witnesses:\n${key}`)
}

function keysIn(text: string | undefined): readonly string[] | undefined {
  return text?.split(/\s+/).filter((key) => key !== '')
}

/** Whoever writes a log anew signs it anew. */
function ownWord({ key, since }: VerifyOptions): string {
  if (key !== undefined || since !== undefined) return ''
  return '\nThat is its own word: --key or --since shows whether the keys that it brings along are those of the log.'
}
