import { createCipheriv, createDecipheriv, hash, hkdfSync, type Cipher, type Decipher } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { OpaqueNumbers } from '../../packages/kernel/ports.ts'
import type { MasterKeys } from './vault.ts'

const algorithm = 'aes-256-ecb'
const form = /^[A-Za-z0-9_-]{22}$/
const contextsKept = 10_000
/** Another process may have received a new key, but not every invalid number is worth a look. */
const loadEveryMs = 1_000

/**
 * A number and its purpose are encrypted as one AES block. So it cannot be read, compared, forged or used for
 * another purpose, and the same number always gives the same text.
 */
export function opaqueNumbers(load: () => MasterKeys): OpaqueNumbers {
  let keys = keysOf(load())
  let loadedAt = performance.now()
  let last: Sealed | undefined
  const tags = new LRUCache<string, Buffer>({ max: contextsKept })

  const tagOf = (context: string): Buffer => {
    const known = tags.get(context)
    if (known) return known
    const tag = hash('sha256', context, 'buffer').subarray(0, 8)
    tags.set(context, tag)
    return tag
  }
  return {
    seal(value, context) {
      const { cipher } = keys[0]!
      if (last?.value === value && last.context === context && last.cipher === cipher) return last.text
      const plain = Buffer.alloc(16)
      plain.writeBigUInt64BE(BigInt(value))
      plain.set(tagOf(context), 8)
      const text = cipher.update(plain).toString('base64url')
      last = { value, context, cipher, text }
      return text
    },
    open(text, context) {
      if (!form.test(text)) return undefined
      const block = Buffer.from(text, 'base64url')
      const tag = tagOf(context)
      const found = numberIn(block, tag, keys)
      if (found !== undefined || performance.now() - loadedAt < loadEveryMs) return found
      keys = keysOf(load())
      loadedAt = performance.now()
      return numberIn(block, tag, keys)
    },
  }
}

/** The number sealed last: many answers in turn tell the same position. */
interface Sealed {
  readonly value: number
  readonly context: string
  readonly cipher: Cipher
  readonly text: string
}

interface BlockKey {
  readonly cipher: Cipher
  readonly decipher: Decipher
}

/** What a block of this purpose says under one of the keys, if it was made with one. */
function numberIn(block: Buffer, tag: Buffer, keys: readonly BlockKey[]): number | undefined {
  for (const { decipher } of keys) {
    const plain = decipher.update(block)
    if (plain.subarray(8).equals(tag)) return Number(plain.readBigUInt64BE())
  }
  return undefined
}

/** Newest first. In this mode each block is for itself, so what was made once works for all of them. */
function keysOf({ current, older }: MasterKeys): readonly BlockKey[] {
  return [current, ...older].map((master) => {
    const key = Buffer.from(hkdfSync('sha256', master, '', 'opaque numbers', 32))
    return {
      cipher: createCipheriv(algorithm, key, null).setAutoPadding(false),
      decipher: createDecipheriv(algorithm, key, null).setAutoPadding(false),
    }
  })
}
