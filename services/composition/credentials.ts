import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { writeWhole } from '../../infra/os/whole-file.ts'
import { identity } from '../../packages/contract/identity.ts'

/** Of the first merchant. */
export interface Credentials {
  readonly merchant_id: string
  readonly owner_email: string
  readonly owner_password: string
  readonly sandbox_key: string
  readonly live_key: string
}

const parts = ['merchant_id', 'owner_email', 'owner_password', 'sandbox_key', 'live_key'] as const

/** Whoever has lost the first merchant's keys puts them back: nothing is made up instead. */
export function damagedCredentials(file: string): Error {
  return new Error(`${file} is damaged: it does not hold the first merchant's keys. Put back what was there.`)
}

/** Those in the file, of which an earlier version wrote fewer. Throws when it holds something else. */
export function keptCredentials(file: string): Partial<Credentials> | undefined {
  if (!existsSync(file)) return undefined
  const kept = statSync(file).isFile() ? credentialsIn(readFileSync(file, 'utf8')) : undefined
  if (kept) return kept
  throw damagedCredentials(file)
}

/** A key says itself of which environment it is, and is a merchant's that has to be known too. */
function credentialsIn(text: string): Partial<Credentials> | undefined {
  const kept = valueIn(text)
  if (typeof kept !== 'object' || kept === null || Array.isArray(kept)) return undefined
  const credentials = kept as Partial<Credentials>
  const isPart = (value: unknown) => value === undefined || (typeof value === 'string' && value !== '')
  if (!parts.every((part) => isPart(credentials[part]))) return undefined
  if (parts.every((part) => credentials[part] === undefined)) return undefined
  const { merchant_id: id, sandbox_key: sandboxKey, live_key: liveKey } = credentials
  const isSandboxKey = sandboxKey === undefined || isWholeKey(sandboxKey, 'ik_test_')
  const isLiveKey = liveKey === undefined || isWholeKey(liveKey, 'ik_live_')
  const isOfNobody = id === undefined && (sandboxKey !== undefined || liveKey !== undefined)
  const isWhole = isSandboxKey && isLiveKey && !isOfNobody
  return isWhole && (id === undefined || identity(id) === id) ? credentials : undefined
}

/** As it was made: one that was cut would be issued again, and be easier to guess. */
function isWholeKey(key: string, prefix: 'ik_test_' | 'ik_live_'): boolean {
  return key.startsWith(prefix) && /^[\w-]{43}$/.test(key.slice(prefix.length))
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isComplete(kept: Partial<Credentials>): kept is Credentials {
  return parts.every((part) => kept[part] !== undefined)
}

/** They are on disk before anything is known by them. */
export function keepCredentials(file: string, credentials: Credentials): Promise<void> {
  const text = `${JSON.stringify(credentials, undefined, 2)}\n`
  return writeWhole(file, async (partial) => writeFileSync(partial, text, { mode: 0o600 }))
}
