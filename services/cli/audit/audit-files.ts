import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { SignedClosing } from '../../audit/signed-months.ts'
import type { TreeFinding } from '../../audit/tree-audit.ts'
import { CommandFailedError } from '../terminal/failure.ts'

/**
 * What is wrong with files as `ikw export month` writes them, `<book>/<name>`: each must be as it was signed
 * when its month was last closed, and none of that month may be missing.
 */
export async function monthFileFindings(
  directory: string | undefined,
  closings: readonly SignedClosing[],
): Promise<readonly TreeFinding[]> {
  if (directory === undefined) return []
  if (!existsSync(directory))
    throw new CommandFailedError(`${directory} is not there: --files names a directory.`)
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const places = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  if (places.length === 0)
    throw new CommandFailedError(`${directory} has no files: \`ikw export month\` writes them.`)
  const files = places.filter(({ isFile }) => isFile)
  const sums: SummedFile[] = []
  for (const { path } of files) sums.push({ path, sha256: await digestOf(path) })
  const months = new Map(
    [...new Set(files.map(({ path }) => dirname(path)))].map((place) => {
      const inside = sums.filter(({ path }) => dirname(path) === place)
      return [place, monthOf(inside, closings)]
    }),
  )
  return [
    // What a link points at can be another file for the next one who looks.
    ...places.filter(({ isFile }) => !isFile).map(({ path }) => `${path} is a link, and no file`),
    ...sums.flatMap((file) => problemOf(file, closings, months.get(dirname(file.path)))),
    ...missingOf(places, months),
  ].map((problem) => ({ problem }))
}

interface SummedFile {
  readonly path: string
  readonly sha256: string
}

function nameOf({ path }: Pick<SummedFile, 'path'>): string {
  return `${basename(dirname(path))}/${basename(path)}`
}

function isOf(file: SummedFile, { files }: SignedClosing): boolean {
  return files.get(nameOf(file)) === file.sha256
}

/** The month that most files of a book are of: those without movements have the same balances. */
function monthOf(
  files: readonly SummedFile[],
  closings: readonly SignedClosing[],
): SignedClosing | undefined {
  const counts = closings
    .filter(({ state }) => state === 'closed')
    .map((closing) => ({ closing, count: files.filter((file) => isOf(file, closing)).length }))
    .filter(({ count }) => count > 0)
  return counts.toSorted((one, other) => other.count - one.count)[0]?.closing
}

function problemOf(
  file: SummedFile,
  closings: readonly SignedClosing[],
  month: SignedClosing | undefined,
): readonly string[] {
  if (month && isOf(file, month)) return []
  const { path } = file
  const named = closings.filter(({ files }) => files.has(nameOf(file)))
  if (named.length === 0) return [`${path} is no file of a closed month`]
  const signed = named.filter((closing) => isOf(file, closing))
  const held = signed.find(({ state }) => state === 'closed') ?? signed.at(-1)
  if (!held) return [`${path} is another one than was signed`]
  return [`${path} is the one of ${held.period}, ${whyNot(held, month)}`]
}

function whyNot({ state }: SignedClosing, month: SignedClosing | undefined): string {
  if (state === 'closed again') return 'which was closed again since, with another one'
  if (state === 'reopened') return 'which was opened again since'
  return `and others beside it are of ${month?.period}`
}

/** Of a month of which one file is there, all have to be. */
function missingOf(
  places: readonly { readonly path: string }[],
  months: ReadonlyMap<string, SignedClosing | undefined>,
): readonly string[] {
  const there = new Set(places.map(({ path }) => path))
  const wanted = new Map<string, string>()
  for (const [place, month] of months)
    for (const name of month?.files.keys() ?? []) {
      const path = join(dirname(place), name)
      const isOther = (months.get(dirname(path)) ?? month) !== month
      if (!there.has(path) || isOther) wanted.set(path, month!.period)
    }
  return [...wanted].map(([path, period]) => `${path} is missing: ${period} was closed with it`)
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
