import { existsSync, readFileSync, writeFileSync } from 'node:fs'
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

/** Those in the file, of which an earlier version wrote fewer. Throws when it holds something else. */
export function keptCredentials(file: string): Partial<Credentials> | undefined {
  if (!existsSync(file)) return undefined
  const kept = credentialsIn(readFileSync(file, 'utf8'))
  if (kept) return kept
  throw new Error(`${file} is damaged: it does not hold the first merchant's keys. Put back what was there.`)
}

function credentialsIn(text: string): Partial<Credentials> | undefined {
  const kept = valueIn(text)
  if (typeof kept !== 'object' || kept === null || Array.isArray(kept)) return undefined
  const credentials = kept as Partial<Credentials>
  const isPart = (value: unknown) => value === undefined || (typeof value === 'string' && value !== '')
  if (!parts.every((part) => isPart(credentials[part]))) return undefined
  const { merchant_id: id } = credentials
  return id === undefined || identity(id) === id ? credentials : undefined
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
