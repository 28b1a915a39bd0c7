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
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

const keyBytes = 32

/**
 * The key that all secrets at rest are sealed with: the one given (base64 of 32 bytes), else the one kept in
 * the data directory, which is made on the first start. Whoever loses it loses the secrets, so it belongs
 * into the backup, away from the database.
 */
export function loadMasterKey(dataDirectory: string, given?: string): Buffer {
  if (given) return decoded(given, 'The given master key')
  const file = join(dataDirectory, 'master.key')
  if (!existsSync(file)) make(file, dataDirectory)
  chmodSync(file, 0o600)
  return decoded(readFileSync(file, 'utf8').trim(), file)
}

/**
 * Written whole before it gets its name, so neither a crash nor a second process starting meanwhile leaves
 * half a key or two.
 */
function make(file: string, dataDirectory: string): void {
  mkdirSync(dataDirectory, { recursive: true })
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeSync(handle, `${randomBytes(keyBytes).toString('base64')}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft)
  }
}

function decoded(text: string, source: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length !== keyBytes) throw new Error(`${source} must be base64 of ${keyBytes} bytes`)
  return key
}
