import { statfs } from 'node:fs/promises'

const gigabyte = 2 ** 30
const megabyte = 2 ** 20
/** Of the disk, for all others who write to it. */
const keptShare = 0.1
/** The disk is asked again after so much was written. */
const bytesPerLook = 16 * megabyte

/** What is to be written does not fit, or would leave others too little. */
export class NoSpaceLeftError extends Error {
  override readonly name = 'NoSpaceLeftError'

  /** Of a write that failed. Somebody else may have filled the disk, or there is a quota. */
  static from(directory: string): (error: NodeJS.ErrnoException) => never {
    return (error) => {
      if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') throw error
      throw new NoSpaceLeftError(`the disk of ${directory} is full`)
    }
  }
}

/** Refuses to write before the disk is full, since a database may be on it. */
export class SpareSpace {
  readonly #directory: string
  readonly #keepFreeBytes: number | undefined
  #left = 0

  constructor(directory: string, keepFreeBytes?: number) {
    this.#directory = directory
    this.#keepFreeBytes = keepFreeBytes
  }

  /** Throws NoSpaceLeftError where so many bytes should not be written. */
  async take(bytes: number): Promise<void> {
    if (bytes > this.#left) {
      await this.#look(bytes)
      this.#left = Math.max(bytes, bytesPerLook)
    }
    this.#left -= bytes
  }

  async #look(bytes: number): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(this.#directory)
    const keep = this.#keepFreeBytes ?? Math.min(gigabyte, blocks * bsize * keptShare)
    const free = bavail * bsize
    if (free - bytes >= keep) return
    const [freeText, keepText] = [free, keep].map((size) => `${Math.ceil(size / megabyte)} MB`)
    throw new NoSpaceLeftError(
      `${freeText} are free on the disk of ${this.#directory}, of which ${keepText} are left to others`,
    )
  }
}
