import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { MasterKeys } from './vault.ts'

const keyBytes = 32

/**
 * The keys that seal secrets at rest, newest first: those given, in base64 and separated by commas, else
 * those of the data directory, one per line; the first start creates one. Losing them means losing the
 * secrets, so they belong in a backup, away from the database.
 */
export function loadMasterKeys(dataDirectory: string, given?: string): MasterKeys {
  if (given) return keysOf(given.split(','), 'The given master key')
  const file = join(dataDirectory, fileName)
  if (!existsSync(file)) make(file, dataDirectory)
  chmodSync(file, 0o600)
  return keysOf(readFileSync(file, 'utf8').trim().split('\n'), file)
}

/** The same again and again; the file is read when it is another one than last time. */
export function masterKeyLoader(dataDirectory: string, given?: string): () => MasterKeys {
  let known: { readonly mark: string | undefined; readonly keys: MasterKeys } | undefined
  return () => {
    const mark = given === undefined ? markOf(join(dataDirectory, fileName)) : given
    if (mark === undefined || known?.mark !== mark)
      known = { mark, keys: loadMasterKeys(dataDirectory, given) }
    return known.keys
  }
}

/** Changes with each replacement of the file. */
function markOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.ino} ${found.mtimeNs}`
}

/** Adds a new key before those in the data directory. */
export function addMasterKey(dataDirectory: string): void {
  const { current, older } = loadMasterKeys(dataDirectory)
  replace(dataDirectory, [randomBytes(keyBytes), current, ...older])
}

/** Keeps only these keys. */
export function keepMasterKeys(dataDirectory: string, { current, older }: MasterKeys): void {
  replace(dataDirectory, [current, ...older])
}

const fileName = 'master.key'

function replace(dataDirectory: string, keys: readonly Buffer[]): void {
  const file = join(dataDirectory, fileName)
  const draft = drafted(file, keys)
  renameSync(draft, file)
}

/**
 * Written completely before it gets its name, so neither a crash nor another process starting at the same
 * time leaves half a key or two.
 */
function make(file: string, dataDirectory: string): void {
  mkdirSync(dataDirectory, { recursive: true })
  const draft = drafted(file, [randomBytes(keyBytes)])
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft)
  }
}

/** A temporary file beside the final one. */
function drafted(file: string, keys: readonly Buffer[]): string {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeSync(handle, keys.map((key) => `${key.toString('base64')}\n`).join(''))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  return draft
}

function keysOf(lines: readonly string[], source: string): MasterKeys {
  const [current, ...older] = lines.map((line) => decoded(line.trim(), source))
  return { current: current!, older }
}

function decoded(text: string, source: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length !== keyBytes) throw new Error(`${source} must be base64 of ${keyBytes} bytes`)
  return key
}
