import {
  MalformedNoteError,
  parseNote,
  parseSignature,
  type NoteVerifier,
} from '../../infra/transparency/signed-note.ts'
import type { PublishedCheckpoint, PublishedCosignature } from '../../infra/transparency/published-log.ts'

/** What witnesses have signed, read along with the checkpoints that it is over. */
export class Cosignatures {
  /** Names and key ids of witnesses whose key is not known; what they signed may be anything. */
  readonly unchecked = new Set<string>()
  checked = 0
  /** By known witness, over how many events it has signed a checkpoint. */
  readonly through = new Map<string, number>()
  readonly #rows: AsyncIterator<PublishedCosignature> | undefined
  readonly #keys: readonly NoteVerifier[]
  readonly #say: (problem: string) => void
  #next: PublishedCosignature | undefined
  #isBegun = false

  constructor(
    rows: AsyncIterable<PublishedCosignature> | undefined,
    { keys, say }: { readonly keys: readonly NoteVerifier[]; readonly say: (problem: string) => void },
  ) {
    this.#rows = rows?.[Symbol.asyncIterator]()
    this.#keys = keys
    this.#say = say
  }

  /** Those over this checkpoint; sizes grow. */
  async over({ size, note }: PublishedCheckpoint): Promise<void> {
    if (!this.#isBegun) await this.#advance()
    for (; this.#next && this.#next.size <= size; await this.#advance()) {
      if (this.#next.size < size) this.#tell(this.#next, 'and there is no checkpoint over them')
      else this.#check(this.#next, note)
    }
  }

  async end(): Promise<void> {
    if (!this.#isBegun) await this.#advance()
    for (; this.#next; await this.#advance()) this.#tell(this.#next, 'and there is no checkpoint over them')
  }

  async #advance(): Promise<void> {
    this.#isBegun = true
    this.#next = (await this.#rows?.next())?.value as PublishedCosignature | undefined
  }

  #check(row: PublishedCosignature, note: string): void {
    try {
      const { name, keyId, signature } = parseSignature(row.line.replace(/\n$/, ''))
      if (name !== row.witness) return this.#tell(row, `and it is signed as ${name}`)
      const key = this.#keys.find((one) => one.name === name && one.keyId.equals(keyId))
      if (!key) return void this.unchecked.add(`${name}+${keyId.toString('hex')}`)
      this.checked++
      if (key.verify(parseNote(note).text, signature) !== false) return void this.through.set(name, row.size)
      this.#tell(row, 'and it is not over the checkpoint that is kept: its root may be another one')
    } catch (error) {
      if (!(error instanceof MalformedNoteError)) throw error
      this.#tell(row, `and it cannot be read: ${error.message}`)
    }
  }

  #tell({ witness, size }: PublishedCosignature, what: string): void {
    this.#say(`the cosignature of ${witness} over ${size} events does not hold, ${what}`)
  }
}
