import { createHash } from 'node:crypto'
import { canonicalJson } from '../../infra/transparency/canonical-json.ts'
import { parseCheckpoint } from '../../infra/transparency/checkpoint.ts'
import {
  MalformedNoteError,
  parseNote,
  verifiedSigners,
  type NoteVerifier,
} from '../../infra/transparency/signed-note.ts'
import type { PublishedCheckpoint } from '../../infra/transparency/published-log.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'

interface Signed {
  readonly timeZone: string
  readonly from: string
  readonly to: string
  readonly books: readonly {
    readonly currency: string
    readonly files: readonly { readonly name: string; readonly sha256: string }[]
  }[]
  readonly checkpoint: { readonly size: number; readonly root: string }
  readonly note: string
}

interface Named {
  readonly leaf: number
  readonly event: string
  readonly root: string
}

type Say = (finding: { readonly leaf: number; readonly problem: string }) => void

/** What closed months say that is signed: each note, the checkpoint in it, and the digests of its files. */
export class SignedMonths {
  /** By the name of the book and the file. */
  readonly files = new Map<string, Set<string>>()
  /** By the size of the checkpoint. */
  readonly #named = new Map<number, Named[]>()
  readonly #say: Say

  constructor(say: Say) {
    this.#say = say
  }

  /** Throws MalformedNoteError for a note that does not hold. */
  closed({ stream, data }: StoredEvent, place: Omit<Named, 'root'>, trusted: readonly NoteVerifier[]): void {
    const { timeZone, from, to, books, checkpoint, note } = data as Signed
    const parsed = parseNote(note)
    const id = stream.slice('period-'.length)
    const digest = createHash('sha256')
      .update(canonicalJson({ timeZone, from, to, books, checkpoint }))
      .digest('base64')
    const origin = parsed.text.slice(0, parsed.text.indexOf('/periods\n'))
    if (!verifiedSigners(parsed, trusted).has(origin))
      throw new MalformedNoteError('no key of the log has signed it')
    if (parsed.text !== `${origin}/periods\n${id}\n${digest}\n`)
      throw new MalformedNoteError('its note is not about what it says')
    this.#nameFiles(id, books)
    const { size, root } = checkpoint
    if (size > place.leaf) {
      const problem = `${place.event} names a checkpoint over ${size} events, and stands before them`
      return this.#say({ leaf: place.leaf, problem })
    }
    this.#named.set(size, [...(this.#named.get(size) ?? []), { ...place, root }])
  }

  #nameFiles(id: string, books: Signed['books']): void {
    for (const { currency, files } of books) {
      for (const { name, sha256 } of files) {
        const file = `${id.slice(0, id.lastIndexOf('.'))}.${currency}/${name}`
        this.files.set(file, (this.files.get(file) ?? new Set()).add(sha256))
      }
    }
  }

  /** Compares what they name with checkpoints that are known to hold. Over `from` events nothing is known. */
  async end(checkpoints: () => AsyncIterable<PublishedCheckpoint>, from: number): Promise<void> {
    for (const size of this.#named.keys()) if (size <= from) this.#named.delete(size)
    if (this.#named.size === 0) return
    let last = 0
    for await (const { size, note } of checkpoints()) {
      last = size
      this.#compare(size, note)
    }
    for (const [size, all] of this.#named) {
      // Signatures that come after it are not there yet, as they are for all events this new.
      if (size > last) continue
      for (const { leaf, event } of all)
        this.#say({ leaf, problem: `${event} names a checkpoint over ${size} events, and there is none` })
    }
  }

  #compare(size: number, note: string): void {
    const named = this.#named.get(size)
    if (!named) return
    this.#named.delete(size)
    const root = parseCheckpoint(parseNote(note).text).root.toString('base64')
    for (const { leaf, event, ...one } of named)
      if (one.root !== root)
        this.#say({ leaf, problem: `${event} names a root over ${size} events that is not the signed one` })
  }
}
