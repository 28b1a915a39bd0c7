import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createWhole, removeAbandoned } from '../../../infra/os/whole-file.ts'
import { hashBytes, sha256 } from '../../../infra/transparency/hashing.ts'
import type { Seen } from '../../../infra/transparency/witness.ts'
import { CommandFailedError } from '../terminal/failure.ts'

/** Nobody looks at the files for as long as another process takes to write so many. */
const filesKept = 64

/**
 * The checkpoint of one log that a witness has seen last, in a new file each time: two processes on one
 * directory cannot both create the same one, and so never sign two continuations of it.
 */
export class SeenCheckpoints {
  readonly #directory: string
  readonly #origin: string
  readonly #name: string

  constructor(directory: string, origin: string) {
    this.#directory = directory
    this.#origin = origin
    this.#name = sha256(origin).toString('hex')
  }

  /** The newest one and its number. Throws when it cannot be read. */
  last(): { readonly number: number; readonly seen: Seen | undefined } {
    const number = Math.max(0, ...this.#numbers())
    const file = this.#pathOf(number)
    const isNothing = number === 0 && !lstatSync(file, { throwIfNoEntry: false })
    return { number, seen: isNothing ? undefined : seenIn(file) }
  }

  /** It is on disk before the signature leaves this process. False when another one was seen meanwhile. */
  async add(number: number, { size, root }: Seen): Promise<boolean> {
    const text = JSON.stringify({ origin: this.#origin, size, root: root.toString('base64') })
    // No file is written twice, so nobody else would.
    removeAbandoned(this.#directory, (name) => this.#numberOf(name) !== undefined)
    const isFirst = await createWhole(this.#pathOf(number), text)
    const numbers = this.#numbers()
    if (!isFirst || numbers.some((other) => other > number)) return false
    for (const old of numbers.filter((other) => other <= number - filesKept))
      rmSync(this.#pathOf(old), { force: true })
    return true
  }

  #numbers(): readonly number[] {
    const numbers = readdirSync(this.#directory).map((name) => this.#numberOf(name) ?? 0)
    return numbers.filter((number) => number > 0)
  }

  #numberOf(name: string): number | undefined {
    if (!name.startsWith(this.#name)) return undefined
    const found = /^(?:\.([1-9]\d*))?\.json$/.exec(name.slice(this.#name.length))
    return found ? Number(found[1] ?? 0) : undefined
  }

  /** The first one has no number: earlier versions wrote that one alone. */
  #pathOf(number: number): string {
    return join(this.#directory, `${this.#name}${number === 0 ? '' : `.${number}`}.json`)
  }
}

/** Whatever cannot be read is not taken for nothing: whoever has seen nothing signs any log. */
function seenIn(file: string): Seen {
  const { size, root } = objectIn(readFileSync(file, 'utf8'))
  const bytes = typeof root === 'string' ? bytesIn(root, hashBytes) : undefined
  const isWhole = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0
  return isWhole && bytes ? { size, root: bytes } : damaged(file, 'what was seen of a log')
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

export function bytesIn(base64: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(base64, 'base64')
  return bytes.length === length && bytes.toString('base64') === base64 ? bytes : undefined
}

export function damaged(file: string, what: string): never {
  throw new CommandFailedError(`${file} is damaged: it does not hold ${what}. Put back what was there.`)
}
