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

  constructor(columns: readonly string[]) {
    this.#columns = columns
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#chunks.length === 0
  }

  add(row: Row): void {
    for (const column of this.#columns) {
      this.#write(row[column])
      this.#bytes[this.#length++] = tab
    }
    this.#bytes[this.#length - 1] = newline
  }

  /** All lines, in pieces that may end within one of them. */
  take(): readonly Buffer[] {
    const chunks = [...this.#chunks, this.#bytes.subarray(0, this.#length)]
    this.#chunks = []
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    return chunks
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
