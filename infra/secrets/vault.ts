import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import type { Vault } from '../../packages/kernel/ports.ts'

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const algorithm = 'aes-256-gcm'

export interface MasterKeys {
  /** Seals, and opens what it sealed. */
  readonly current: Buffer
  /** Only open what they sealed while they were current. */
  readonly older: readonly Buffer[]
}

/** Nothing is wrong with the secret: this process lacks a key. */
export class UnknownMasterKeyError extends Error {
  override readonly name = 'UnknownMasterKeyError'

  constructor(id: string) {
    super(`the secret was sealed with master key ${id}, which is not here`)
  }
}

/**
 * AES-256-GCM with a random nonce. A sealed secret is `<format>.<id of its master key>.<base64url of nonce,
 * ciphertext and tag>`. Keys are loaded again before sealing and when one is missing: they may be new.
 */
export function openVault(load: () => MasterKeys): Vault {
  let loaded = load()
  let keys = ringOf(loaded)
  const loadAgain = () => {
    const now = load()
    if (now !== loaded) keys = ringOf((loaded = now))
  }

  const sealer = (): Vault['seal'] => {
    loadAgain()
    const { currentId, byId } = keys
    return (secret, context) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, byId.get(currentId)!, nonce).setAAD(Buffer.from(context))
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      const bytes = Buffer.concat([nonce, ciphertext, cipher.getAuthTag()])
      return `v1.${currentId}.${bytes.toString('base64url')}`
    }
  }

  return {
    sealer,
    seal: (secret, context) => sealer()(secret, context),
    open(sealed, context) {
      const [format, id = '', text = ''] = sealed.split('.')
      if (format !== 'v1') throw new Error('this is not a sealed secret of a known format')
      if (!keys.byId.has(id)) loadAgain()
      const key = keys.byId.get(id)
      if (!key) throw new UnknownMasterKeyError(id)
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length < nonceBytes + tagBytes) throw new Error('the sealed secret is cut off')
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes))
      const ciphertext = bytes.subarray(nonceBytes, -tagBytes)
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
    },
  }
}

interface Ring {
  readonly currentId: string
  readonly byId: ReadonlyMap<string, KeyObject>
}

function ringOf({ current, older }: MasterKeys): Ring {
  const byId = new Map([current, ...older].map((key) => [keyId(key), keyObject(key)]))
  return { currentId: keyId(current), byId }
}

function keyObject(key: Buffer): KeyObject {
  if (key.length !== keyBytes) throw new Error(`a master key has ${keyBytes} bytes, not ${key.length}`)
  return createSecretKey(key)
}

/** Id of the master key that sealed a secret. */
export function sealedWith(sealed: string): string {
  return sealed.split('.')[1] ?? ''
}

export function keyId(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 12)
}
