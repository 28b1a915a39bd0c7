import { announcedKey, announcementType } from '../../infra/transparency/announcement.ts'
import { parseCheckpoint, signedCheckpoint } from '../../infra/transparency/checkpoint.ts'
import { commitmentOf } from '../../infra/transparency/commitment.ts'
import { hashBytes, leafHash, sha256 } from '../../infra/transparency/hashing.ts'
import {
  MalformedNoteError,
  noteVerifier,
  parseNote,
  type NoteVerifier,
} from '../../infra/transparency/signed-note.ts'
import { GrowingTree, type Tile } from '../../infra/transparency/tree.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { PublishedLeaves } from './published-leaves.ts'
import type { PublishedCheckpoint, PublishedLog } from '../../infra/transparency/published-log.ts'

export interface TreeFinding {
  /** Left out: the finding is about the log as a whole. */
  readonly leaf?: number
  readonly problem: string
}

export interface TreeAuditOptions {
  /** The only trusted keys, and those that they announce. Left out: those that the log brings along. */
  readonly keys?: readonly string[]
  /** A checkpoint that the auditor has kept since last time. */
  readonly noted?: string
  /** What was written before this time has had time to be signed. */
  readonly signedBefore?: string
  /** Grown before, over events that were compared then; `published` begins where it ends. */
  readonly tree?: GrowingTree
}

/** Findings that say the same of thousands of events help nobody. */
const findingsMax = 20

/** Grows the tree again from the events themselves and compares it with all that was published. */
export class TreeAudit {
  readonly findings: TreeFinding[] = []
  readonly #published: PublishedLog
  readonly #leaves: PublishedLeaves
  readonly #tree: GrowingTree
  readonly #trusted: NoteVerifier[]
  readonly #checkpoints: AsyncIterator<PublishedCheckpoint>
  #next: PublishedCheckpoint | undefined
  #noted: PublishedCheckpoint | undefined
  #isBegun = false
  /** Whether there is any checkpoint. */
  #isSigned = false
  /** So many events are under a checkpoint that holds. */
  #signedThrough = 0
  #tilesCompared = 0
  /** What follows from an event that is another one is not told again. */
  #isForked = false
  #isShifted = false
  readonly #signedBefore: string
  #isUnsignedTold = false

  constructor(published: PublishedLog, options: TreeAuditOptions = {}) {
    const { keys, noted, signedBefore = '', tree = new GrowingTree() } = options
    this.#tree = tree
    this.#signedBefore = signedBefore
    this.#published = published
    this.#trusted = (keys ?? published.verifierKeys).map(noteVerifier)
    this.#leaves = new PublishedLeaves(published.bundles())
    this.#checkpoints = published.checkpoints()[Symbol.asyncIterator]()
    this.#noted = noted === undefined ? undefined : this.#parsed(noted, 'the checkpoint that was noted')
  }

  get size(): number {
    return this.#tree.size
  }

  get tree(): GrowingTree {
    return this.#tree
  }

  root(): Buffer {
    return this.#tree.root()
  }

  /** The next events of the log. */
  async apply(events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) {
      const leaf = this.#tree.size
      const commitment = commitmentOf(event)
      await this.#leaves.reach(leaf)
      const published = this.#leaves.at(leaf)
      if (published && !published.equals(commitment)) this.#tell(leaf, event, commitment)
      if (!(await this.#isUnderCheckpoint())) this.#requireNew(leaf, event)
      if (event.type === announcementType) this.#trustNext(event)
      await this.add(commitment)
    }
  }

  /** The commitment of the next leaf, for whoever has no events. */
  async add(commitment: Buffer): Promise<void> {
    this.#tree.add(leafHash(commitment))
    for (const tile of this.#tree.takeFullTiles()) this.#compareTile(tile)
    const { size } = this.#tree
    if (size === this.#published.size) for (const tile of this.#tree.partialTiles()) this.#compareTile(tile)
    if (size === this.#noted?.size) this.#noted = this.#compareRoot(this.#noted, 'that was noted')
    if (!this.#isBegun) await this.#nextCheckpoint()
    while (this.#next && this.#next.size <= size) {
      this.#compareRoot(this.#next)
      await this.#nextCheckpoint()
    }
  }

  /** How many events nobody has signed yet. Events that are gone from the end are found here. */
  async end(): Promise<number> {
    const { size } = this.#tree
    const { size: signed } = this.#published
    if (!this.#isBegun) await this.#nextCheckpoint()
    if (size > 0 && !this.#isSigned) this.#note({ problem: `nobody has signed any of the ${size} events` })
    if (size < signed)
      this.#note({ problem: `${signed - size} events are missing at the end: ${signed} were notarised` })
    if (size >= signed && signed < this.#signedThrough)
      this.#note({ problem: `the tree has ${signed} leaves, and ${this.#signedThrough} events were signed` })
    const tilesTooMany = this.#published.tiles.size - this.#tilesCompared
    if (size >= signed && tilesTooMany > 0)
      this.#note({ problem: `${tilesTooMany} tiles belong to no tree of ${signed} leaves` })
    for (const checkpoint of [this.#noted, this.#next]) {
      if (checkpoint && checkpoint.size > size)
        this.#note({ problem: `a checkpoint tells of ${checkpoint.size} events, and ${size} are there` })
      // Of a log without events.
      else if (checkpoint) this.#compareRoot(checkpoint)
    }
    return size - this.#signedThrough
  }

  /** Commitments and tiles alone are signed by nobody: whoever changes events can change them too. */
  async #isUnderCheckpoint(): Promise<boolean> {
    if (!this.#isBegun) await this.#nextCheckpoint()
    return this.#next !== undefined || this.#noted !== undefined
  }

  async #nextCheckpoint(): Promise<void> {
    this.#isBegun = true
    const { value, done } = await this.#checkpoints.next()
    this.#next = done ? undefined : value
    this.#isSigned ||= !done
  }

  #compareRoot({ size, note }: PublishedCheckpoint, which = `over ${size} events`): undefined {
    try {
      const checkpoint = signedCheckpoint(note, this.#trusted)
      if (checkpoint.size !== size)
        throw new MalformedNoteError(`it says that it is over ${checkpoint.size} events`)
      if (size !== this.#tree.size) throw new MalformedNoteError('there are two of this size')
      if (checkpoint.root.equals(this.#tree.root())) this.#signedThrough = size
      else this.#fork({ problem: `the first ${size} events are not those of the checkpoint ${which}` })
    } catch (error) {
      if (!(error instanceof MalformedNoteError)) throw error
      this.#note({ problem: `the checkpoint ${which} does not hold: ${error.message}` })
    }
    return undefined
  }

  #compareTile({ level, index, hashes }: Tile): void {
    const name = `${level}/${index}`
    const published = this.#published.tiles.get(name)
    const count = hashes.length / hashBytes
    // Beyond what was published there is nothing to compare with.
    if (this.#tree.size > this.#published.size) return
    if (!published) return this.#note({ problem: `tile ${name} is missing` })
    this.#tilesCompared++
    if (this.#isForked) return
    if (published.hashes !== count || !published.digest.equals(sha256(hashes)))
      this.#note({ problem: `tile ${name} is not what its ${count} hashes make it` })
  }

  /** A key that a trusted one has announced is trusted from there on. */
  #trustNext(event: StoredEvent): void {
    const { note } = event.data as { readonly note: string }
    try {
      this.#trusted.push(noteVerifier(announcedKey(note, this.#trusted)))
    } catch (error) {
      if (!(error instanceof MalformedNoteError)) throw error
      this.#note({ leaf: this.#tree.size, problem: `${nameOf(event)} does not hold: ${error.message}` })
    }
  }

  #parsed(note: string, what: string): PublishedCheckpoint | undefined {
    try {
      return { size: parseCheckpoint(parseNote(note).text).size, note }
    } catch (error) {
      if (!(error instanceof MalformedNoteError)) throw error
      this.#note({ problem: `${what} does not hold: ${error.message}` })
      return undefined
    }
  }

  /** Behind the last signature stands only what is new. The first that is older is told. */
  #requireNew(leaf: number, event: StoredEvent): void {
    const { at } = event.metadata
    if (!this.#isSigned || this.#isUnsignedTold || at >= this.#signedBefore) return
    this.#isUnsignedTold = true
    this.#note({ leaf, problem: `${nameOf(event)} was written at ${at}, and was never signed` })
  }

  /** One event too many or too few moves all that follow: that is told once. */
  #tell(leaf: number, event: StoredEvent, commitment: Buffer): void {
    const name = nameOf(event)
    if (this.#isShifted) return
    this.#isForked = true
    const elsewhere = this.#leaves.nearby(commitment)
    if (elsewhere === undefined) return this.#note({ leaf, problem: `${name} is not what was notarised` })
    this.#isShifted = Math.abs(elsewhere - leaf) === 1
    this.#note({ leaf, problem: `${name} was notarised as leaf ${elsewhere}, and stands as leaf ${leaf}` })
  }

  #fork(finding: TreeFinding): void {
    if (!this.#isForked) this.#note(finding)
    this.#isForked = true
  }

  #note(finding: TreeFinding): void {
    if (this.findings.length < findingsMax) this.findings.push(finding)
  }
}

function nameOf({ id, type, stream, revision }: StoredEvent): string {
  return `event ${id} (${type}, ${stream} revision ${revision})`
}
