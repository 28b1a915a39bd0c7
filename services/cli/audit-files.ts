import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { TreeFinding } from '../audit/tree-audit.ts'
import { CommandFailedError } from './failure.ts'

/**
 * What is wrong with files as `ikw export month` writes them, `<book>/<name>`: each must have a digest that a
 * closed month of the backup has signed.
 */
export async function monthFileFindings(
  directory: string | undefined,
  signed: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<readonly TreeFinding[]> {
  if (directory === undefined) return []
  if (!existsSync(directory))
    throw new CommandFailedError(`${directory} is not there: --files names a directory.`)
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const findings: TreeFinding[] = []
  for (const file of files.sort()) {
    const digests = signed.get(`${basename(dirname(file))}/${basename(file)}`)
    if (!digests) findings.push({ problem: `${file} is no file of a closed month` })
    else if (!digests.has(await digestOf(file)))
      findings.push({ problem: `${file} is another one than was signed` })
  }
  return findings
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
