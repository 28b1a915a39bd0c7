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

/** A month of one merchant, as it was closed once. */
export interface SignedClosing {
  /** `<merchant>.<live|test>.<YYYY-MM>`. */
  readonly period: string
  /** By the name of the book and the file: its SHA-256. */
  readonly files: ReadonlyMap<string, string>
  /** What came of it: only what is closed still holds. */
  readonly state: 'closed' | 'reopened' | 'closed again'
}

type Say = (finding: { readonly leaf: number; readonly problem: string }) => void

const prefix = 'period-'

/** What closed months say that is signed: each note, the checkpoint in it, and the digests of its files. */
export class SignedMonths {
  /** By period, the newest last. */
  readonly #closings = new Map<string, SignedClosing[]>()
  /** By the size of the checkpoint. */
  readonly #named = new Map<number, Named[]>()
  readonly #say: Say

  constructor(say: Say) {
    this.#say = say
  }

  get closings(): readonly SignedClosing[] {
    return [...this.#closings.values()].flat()
  }

  reopened({ stream }: StoredEvent): void {
    this.#leave(stream.slice(prefix.length), 'reopened')
  }

  /** Throws MalformedNoteError for a note that does not hold. */
  closed({ stream, data }: StoredEvent, place: Omit<Named, 'root'>, trusted: readonly NoteVerifier[]): void {
    const { timeZone, from, to, books, checkpoint, note } = data as Signed
    const parsed = parseNote(note)
    const id = stream.slice(prefix.length)
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

  #nameFiles(period: string, books: Signed['books']): void {
    const owner = period.slice(0, period.lastIndexOf('.'))
    const files = books.flatMap(({ currency, files }) =>
      files.map(({ name, sha256 }) => [`${owner}.${currency}/${name}`, sha256] as const),
    )
    this.#leave(period, 'closed again')
    this.#closings.get(period)?.push({ period, files: new Map(files), state: 'closed' })
  }

  /** What it was closed with before does not hold any more. */
  #leave(period: string, state: SignedClosing['state']): void {
    const known = this.#closings.get(period) ?? []
    this.#closings.set(
      period,
      known.map((closing) => ({ ...closing, state })),
    )
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
