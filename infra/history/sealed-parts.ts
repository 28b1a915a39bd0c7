import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { partsPrefix, removeAbandonedParts, whileInUse } from './abandoned-parts.ts'
import { NoSpaceLeftError, SpareSpace } from './spare-space.ts'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const ivBytes = 12
const tagBytes = 16
const lengthBytes = 4
/** So much of each part is in memory before it is written. */
const charactersPerBlock = 65_536

export interface PartsOptions {
  /** Left out: the system's directory for temporary files. */
  readonly directory?: string
  /** So much of the disk is left to others; left out: a tenth of it, at most 1 GiB. */
  readonly keepFreeBytes?: number
}

/**
 * Values in numbered parts that are too many for memory, each written once and read once. Their files are
 * sealed with a key that only this process has: what they hold may be personal, and outlives a crash.
 */
export class SealedParts<Value> {
  readonly #directory: string
  readonly #key = randomBytes(keyBytes)
  readonly #waiting = new Map<number, { lines: string[]; characters: number }>()
  readonly #written = new Set<number>()
  readonly #spare: SpareSpace
  readonly #endUse: () => void

  private constructor(directory: string, { keepFreeBytes }: PartsOptions) {
    this.#directory = directory
    this.#spare = new SpareSpace(directory, keepFreeBytes)
    this.#endUse = whileInUse(directory)
  }

  /** Removes what others have left in the directory when they were killed. */
  static async open<Value>(options: PartsOptions = {}): Promise<SealedParts<Value>> {
    const { directory = tmpdir() } = options
    await mkdir(directory, { recursive: true })
    await removeAbandonedParts(directory)
    return new SealedParts(await mkdtemp(join(directory, partsPrefix)), options)
  }

  async add(part: number, value: Value): Promise<void> {
    const waiting = this.#waiting.get(part) ?? { lines: [], characters: 0 }
    this.#waiting.set(part, waiting)
    const line = JSON.stringify(value)
    waiting.lines.push(line)
    waiting.characters += line.length
    if (waiting.characters >= charactersPerBlock) await this.#write(part)
  }

  /** All values of a part, in the order in which they came, block by block. */
  async *read(part: number): AsyncGenerator<readonly Value[], void> {
    await this.#write(part)
    if (!this.#written.has(part)) return
    for await (const sealed of blocksOf(this.#file(part)))
      yield this.#opened(sealed)
        .split('\n')
        .map((line) => JSON.parse(line) as Value)
  }

  /** Removes a part that was read. */
  async drop(part: number): Promise<void> {
    this.#waiting.delete(part)
    if (this.#written.delete(part)) await rm(this.#file(part), { force: true })
  }

  close(): Promise<void> {
    this.#endUse()
    return rm(this.#directory, { recursive: true, force: true })
  }

  #file(part: number): string {
    return join(this.#directory, String(part))
  }

  async #write(part: number): Promise<void> {
    const waiting = this.#waiting.get(part)
    if (!waiting) return
    this.#waiting.delete(part)
    this.#written.add(part)
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv(algorithm, this.#key, iv)
    const sealed = Buffer.concat([cipher.update(waiting.lines.join('\n')), cipher.final()])
    const length = Buffer.alloc(lengthBytes)
    length.writeUInt32BE(ivBytes + tagBytes + sealed.length)
    const block = Buffer.concat([length, iv, cipher.getAuthTag(), sealed])
    await this.#spare.take(block.length)
    await appendFile(this.#file(part), block, { mode: 0o600 }).catch(NoSpaceLeftError.from(this.#directory))
  }

  #opened(block: Buffer): string {
    const decipher = createDecipheriv(algorithm, this.#key, block.subarray(0, ivBytes))
    decipher.setAuthTag(block.subarray(ivBytes, ivBytes + tagBytes))
    return Buffer.concat([decipher.update(block.subarray(ivBytes + tagBytes)), decipher.final()]).toString()
  }
}

async function* blocksOf(file: string): AsyncGenerator<Buffer, void> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.length < lengthBytes ? Infinity : lengthBytes + rest.readUInt32BE(0)
      if (rest.length < end) break
      yield rest.subarray(lengthBytes, end)
      rest = rest.subarray(end)
    }
  }
}
