import type { Columns, ColumnType, Row, Value } from '../../../packages/kernel/projection.ts'

const chunkBytes = { first: 4 * 1024, most: 256 * 1024 }
/** Longer texts are cheaper to copy whole than character by character. */
const shortMax = 120
const bytesPerCharacterMax = 3
const asciiMax = 127

const begin = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const end = Buffer.from([0xff, 0xff])
/** NULL's length marker. */
const nothing = -1
const countBytes = 2
const lengthBytes = 4
/** All non-text types, with their length. */
const numberBytesMax = 24

/** PostgreSQL counts times from the start of 2000. */
const epochMs = Date.UTC(2000)
const microsecondsPerMs = 1_000
const twoTo32 = 2 ** 32
/** Digits of `numeric`. */
const digitBase = 10_000
const negativeSign = 0x4000

/**
 * Rows in COPY's binary format, which costs PostgreSQL three quarters of its text format. They are bytes from
 * the start, which the garbage collector never moves.
 */
export class CopyRows {
  readonly #names: readonly string[]
  readonly #types: readonly ColumnType[]
  #chunks: Buffer[] = []
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** Whether the whole previous row is in the current buffer, and where it begins. */
  #before: Row | undefined
  #start = 0
  /** End of each column of the last row, relative to its start. */
  readonly #ends: number[] = []
  /** The last time that was written: usually the next one is equal. */
  #time = ''
  #timeMs = Number.NaN

  constructor(columns: Columns) {
    this.#names = Object.keys(columns)
    this.#types = Object.values(columns)
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#chunks.length === 0
  }

  /** Adds every row or, when a value does not fit its column, throws and adds none. */
  add(rows: readonly Row[]): void {
    const [chunks, bytes, length] = [this.#chunks.length, this.#bytes, this.#length]
    try {
      for (const row of rows) this.#add(row)
    } catch (error) {
      this.#chunks.length = chunks
      this.#bytes = bytes
      this.#length = length
      this.#before = undefined
      throw error
    }
  }

  /** All rows, in pieces that may end in the middle of a row. */
  take(): readonly Buffer[] {
    if (this.isEmpty) this.#writeWhole(begin)
    const chunks = [...this.#chunks, this.#bytes.subarray(0, this.#length), end]
    this.#chunks = []
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    this.#before = undefined
    return chunks
  }

  #add(row: Row): void {
    if (this.isEmpty) this.#writeWhole(begin)
    const bytes = this.#bytes
    const alike = this.#before ? this.#alike(row, this.#before) : 0
    const start = this.#length
    if (alike > 0) this.#repeat(this.#ends[alike - 1]!)
    else this.#writeCount()
    for (let index = alike; index < this.#names.length; index++) {
      this.#write(this.#types[index]!, row[this.#names[index]!])
      this.#ends[index] = this.#length - start
    }
    this.#before = this.#bytes === bytes ? row : undefined
    this.#start = start
  }

  /**
   * How many leading columns a row shares with the one before: lines of one journal entry share most of them.
   */
  #alike(row: Row, before: Row): number {
    let count = 0
    for (const name of this.#names) {
      const value = row[name]
      if (value !== before[name] || (typeof value === 'object' && value !== null)) break
      count++
    }
    return count
  }

  #repeat(length: number): void {
    const [bytes, start] = [this.#bytes, this.#start]
    this.#reserve(length)
    this.#length += bytes.copy(this.#bytes, this.#length, start, start + length)
  }

  #writeCount(): void {
    this.#reserve(countBytes)
    this.#write16(this.#names.length)
  }

  #write(type: ColumnType, value: Value | undefined): void {
    if (typeof value === 'string' && type === 'text') return this.#writeText(value)
    this.#reserve(numberBytesMax)
    if (value === null || value === undefined) return this.#write32(nothing)
    if (type === 'text') return this.#writeText(String(value))
    if (type === 'json')
      return this.#writeText(typeof value === 'object' ? JSON.stringify(value) : String(value))
    if (type === 'boolean') return this.#writeBoolean(value)
    if (type === 'timestamptz') return this.#writeTime(String(value))
    this.#writeInteger(type, Number(value))
  }

  /** Most texts are short and ASCII: checked and copied in one pass. */
  #writeText(text: string): void {
    if (text.length > shortMax) return this.#writeLongText(text)
    this.#reserve(lengthBytes + text.length)
    const [bytes, start] = [this.#bytes, this.#length]
    let length = start + lengthBytes
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > asciiMax) return this.#writeLongText(text)
      bytes[length++] = code
    }
    this.#write32(text.length)
    this.#length = length
  }

  #writeLongText(text: string): void {
    this.#reserve(lengthBytes + text.length * bytesPerCharacterMax)
    const length = this.#bytes.write(text, this.#length + lengthBytes)
    this.#write32(length)
    this.#length += length
  }

  #writeBoolean(value: Value): void {
    if (typeof value !== 'boolean') throw new TypeError(`${String(value)} is neither true nor false`)
    this.#write32(1)
    this.#bytes[this.#length++] = value ? 1 : 0
  }

  /** RFC 3339, millisecond precision. */
  #writeTime(time: string): void {
    const timeMs = time === this.#time ? this.#timeMs : Date.parse(time)
    if (Number.isNaN(timeMs)) throw new RangeError(`"${time}" is no time`)
    this.#time = time
    this.#timeMs = timeMs
    this.#write32(8)
    this.#write64(timeMs - epochMs, microsecondsPerMs)
  }

  #writeInteger(type: 'integer' | 'bigint' | 'numeric', value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no integer that can be counted to`)
    if (type === 'numeric') return this.#writeNumeric(value)
    if (type === 'bigint') {
      this.#write32(8)
      this.#write64(value)
    } else {
      if (value !== (value | 0)) throw new RangeError(`${value} has more than 32 bits`)
      this.#write32(4)
      this.#write32(value)
    }
  }

  /** Digits in base 10,000, the first one with its weight; no decimals. */
  #writeNumeric(value: number): void {
    const digits: number[] = []
    for (let rest = Math.abs(value); rest > 0; rest = Math.floor(rest / digitBase))
      digits.unshift(rest % digitBase)
    this.#write32(2 * (4 + digits.length))
    this.#write16(digits.length)
    this.#write16(Math.max(0, digits.length - 1))
    this.#write16(value < 0 ? negativeSign : 0)
    this.#write16(0)
    for (const digit of digits) this.#write16(digit)
  }

  #write16(value: number): void {
    this.#bytes[this.#length++] = value >>> 8
    this.#bytes[this.#length++] = value
  }

  #write32(value: number): void {
    const [bytes, at] = [this.#bytes, this.#length]
    bytes[at] = value >>> 24
    bytes[at + 1] = value >>> 16
    bytes[at + 2] = value >>> 8
    bytes[at + 3] = value
    this.#length = at + 4
  }

  /** The product may exceed the safe integers. */
  #write64(value: number, factor = 1): void {
    const high = Math.floor(value / twoTo32)
    const low = (value - high * twoTo32) * factor
    this.#write32(high * factor + Math.floor(low / twoTo32))
    this.#write32(low % twoTo32)
  }

  #writeWhole(bytes: Buffer): void {
    this.#reserve(bytes.length)
    this.#length += bytes.copy(this.#bytes, this.#length)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    if (this.#length > 0) this.#chunks.push(this.#bytes.subarray(0, this.#length))
    const next = Math.min(chunkBytes.most, Math.max(chunkBytes.first, 2 * this.#bytes.length))
    this.#bytes = Buffer.allocUnsafe(Math.max(next, bytes))
    this.#length = 0
  }
}
