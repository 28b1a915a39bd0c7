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
  const tags = new LRUCache<string, Buffer>({ max: contextsKept })

  const tagOf = (context: string): Buffer => {
    const known = tags.get(context)
    if (known) return known
    const tag = hash('sha256', context, 'buffer').subarray(0, 8)
    tags.set(context, tag)
    return tag
  }
  const find = (block: Buffer, tag: Buffer): number | undefined => {
    for (const { decipher } of keys) {
      const plain = decipher.update(block)
      if (plain.subarray(8).equals(tag)) return Number(plain.readBigUInt64BE())
    }
    return undefined
  }
  return {
    seal(value, context) {
      const plain = Buffer.alloc(16)
      plain.writeBigUInt64BE(BigInt(value))
      plain.set(tagOf(context), 8)
      return keys[0]!.cipher.update(plain).toString('base64url')
    },
    open(text, context) {
      if (!form.test(text)) return undefined
      const block = Buffer.from(text, 'base64url')
      const tag = tagOf(context)
      const found = find(block, tag)
      if (found !== undefined || performance.now() - loadedAt < loadEveryMs) return found
      keys = keysOf(load())
      loadedAt = performance.now()
      return find(block, tag)
    },
  }
}

interface BlockKey {
  readonly cipher: Cipher
  readonly decipher: Decipher
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
