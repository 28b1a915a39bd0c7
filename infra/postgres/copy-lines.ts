import type { Row, Value } from '../../packages/kernel/projection.ts'

const chunkBytes = { first: 4 * 1024, most: 256 * 1024 }
/** Longer texts are cheaper to copy as a whole than character by character. */
const shortMax = 120
const bytesPerCharacterMax = 3

const tab = 9
const newline = 10
const space = 32
const backslash = 92
const asciiMax = 126
/** What COPY calls nothing, which is also what a missing column is. */
const nothing = '\\N'
const special = /[\\\n\r\t]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Rows as the lines that COPY reads: bytes from the start, which no collection of garbage moves. */
export class CopyLines {
  readonly #columns: readonly string[]
  #chunks: Buffer[] = []
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** The row before, when all of its line is in the bytes at hand, and where it begins there. */
  #before: Row | undefined
  #start = 0
  /** Where each column of the last line ends, from its beginning. */
  readonly #ends: number[] = []

  constructor(columns: readonly string[]) {
    this.#columns = columns
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#chunks.length === 0
  }

  add(row: Row): void {
    const bytes = this.#bytes
    const alike = this.#before ? this.#alike(row, this.#before) : 0
    const start = this.#length
    if (alike > 0) this.#repeat(this.#ends[alike - 1]!)
    for (let index = alike; index < this.#columns.length; index++) {
      this.#write(row[this.#columns[index]!])
      this.#bytes[this.#length++] = tab
      this.#ends[index] = this.#length - start
    }
    this.#bytes[this.#length - 1] = newline
    this.#before = this.#bytes === bytes ? row : undefined
    this.#start = start
  }

  /** All lines, in pieces that may end within one of them. */
  take(): readonly Buffer[] {
    const chunks = [...this.#chunks, this.#bytes.subarray(0, this.#length)]
    this.#chunks = []
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    this.#before = undefined
    return chunks
  }

  /** With how many columns a row begins that the one before has too: lines of an entry share most of them. */
  #alike(row: Row, before: Row): number {
    let count = 0
    for (const column of this.#columns) {
      const value = row[column]
      if (value !== before[column] || (typeof value === 'object' && value !== null)) break
      count++
    }
    return count < this.#columns.length ? count : 0
  }

  #repeat(length: number): void {
    const [bytes, start] = [this.#bytes, this.#start]
    this.#reserve(length)
    this.#length += bytes.copy(this.#bytes, this.#length, start, start + length)
  }

  #write(value: Value | undefined): void {
    if (typeof value === 'string') this.#writeText(value)
    else if (value === null || value === undefined) this.#writeWhole(nothing)
    else if (typeof value === 'object') this.#writeEscaped(JSON.stringify(value))
    else this.#writeText(String(value))
  }

  /** Most texts are short and have nothing to escape: one pass looks and copies. */
  #writeText(text: string): void {
    if (text.length > shortMax) return this.#writeEscaped(text)
    this.#reserve(text.length)
    const bytes = this.#bytes
    let length = this.#length
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code < space || code > asciiMax || code === backslash) return this.#writeEscaped(text)
      bytes[length++] = code
    }
    this.#length = length
  }

  #writeEscaped(text: string): void {
    this.#writeWhole(
      special.test(text) ? text.replace(/[\\\n\r\t]/g, (character) => escapes[character]!) : text,
    )
  }

  #writeWhole(text: string): void {
    this.#reserve(text.length * bytesPerCharacterMax)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** Room for so many bytes and for what ends a column. */
  #reserve(bytes: number): void {
    if (this.#length + bytes < this.#bytes.length) return
    if (this.#length > 0) this.#chunks.push(this.#bytes.subarray(0, this.#length))
    const next = Math.min(chunkBytes.most, Math.max(chunkBytes.first, 2 * this.#bytes.length))
    this.#bytes = Buffer.allocUnsafe(Math.max(next, bytes + 1))
    this.#length = 0
  }
}
