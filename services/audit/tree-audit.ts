import { announcedKey, announcementType } from '../../infra/transparency/announcement.ts'
import { parseCheckpoint, signedCheckpoint } from '../../infra/transparency/checkpoint.ts'
import { hashBytes, sha256 } from '../../infra/transparency/hashing.ts'
import {
  MalformedNoteError,
  noteVerifier,
  parseNote,
  type NoteVerifier,
} from '../../infra/transparency/signed-note.ts'
import { GrowingTree, type Tile } from '../../infra/transparency/tree.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { committed, mayBeAhead, nameOf } from './notarised-event.ts'
import { PublishedLeaves } from './published-leaves.ts'
import { closedType, reopenedType } from './closed-months.ts'
import { Cosignatures } from './cosignatures.ts'
import { SignedMonths } from './signed-months.ts'
import type { PublishedCheckpoint, PublishedLog } from '../../infra/transparency/published-log.ts'

export interface TreeFinding {
  /** Left out: the finding is about the log as a whole. */
  readonly leaf?: number
  readonly problem: string
}

export interface TreeAuditOptions {
  /** The only trusted keys, and those that they announce. Left out: those that the log brings along. */
  readonly keys?: readonly string[]
  /** Keys of witnesses, whose signatures are checked too. */
  readonly witnesses?: readonly string[]
  /** A checkpoint that the auditor has kept since last time. */
  readonly noted?: string
  /** What was written before this time has had time to be signed. */
  readonly signedBefore?: Date
  /** Grown before, over events that were compared then; `published` begins where it ends. */
  readonly tree?: GrowingTree
}

/** So many are named: findings that say the same of thousands of events help nobody. */
const findingsMax = 20
/** What has had no time to be signed, and by what the clocks of machines may differ. */
const newMs = 120_000

/** Grows the tree again from the events themselves and compares it with all that was published. */
export class TreeAudit {
  readonly findings: TreeFinding[] = []
  readonly months = new SignedMonths((finding) => this.#note(finding))
  readonly cosignatures: Cosignatures
  readonly #published: PublishedLog
  readonly #leaves: PublishedLeaves
  readonly #tree: GrowingTree
  /** So many leaves were compared before. */
  readonly #from: number
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
  /** Over the leaves as they were notarised, from the first event on that is another one. */
  #notarised: GrowingTree | undefined
  /** A checkpoint that is over neither tree: what follows from that is not told again. */
  #isForked = false
  /** How far from its leaf the last event stands. */
  #shift = 0
  readonly #signedBefore: Date | undefined
  #isUnsignedTold = false
  /** How many findings are not named. */
  #unnamed = 0
  /** Of the last event, if it is the one that was notarised: what stands in its place is told already. */
  #position: number | undefined

  constructor(published: PublishedLog, options: TreeAuditOptions = {}) {
    const { keys, witnesses = [], noted, signedBefore, tree = new GrowingTree() } = options
    this.#tree = tree
    this.#from = tree.size
    this.#signedBefore = signedBefore
    this.#published = published
    this.#trusted = (keys ?? published.verifierKeys).map(noteVerifier)
    this.#leaves = new PublishedLeaves(published.bundles())
    this.cosignatures = new Cosignatures(published.cosignatures(), {
      keys: witnesses.map(noteVerifier),
      say: (problem) => this.#note({ problem }),
    })
    this.#checkpoints = published.checkpoints()[Symbol.asyncIterator]()
    this.#noted = noted === undefined ? undefined : this.#parsed(noted, 'the checkpoint that was noted')
  }

  get size(): number {
    return this.#tree.size
  }

  /** Of all findings, also those that are not named. */
  get found(): number {
    return this.findings.length + Math.max(0, this.#unnamed - 1)
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
      const commitment = committed(event)
      await this.#leaves.reach(leaf)
      const published = this.#leaves.at(leaf)
      const isItself = !published || published.equals(commitment)
      if (isItself) this.#isWhereItWas(leaf, event)
      else this.#tell(leaf, event, commitment)
      if (!(await this.#isUnderCheckpoint())) this.#requireNew(leaf, event)
      if (event.type === announcementType || event.type === closedType) this.#openNoteOf(event)
      if (event.type === reopenedType) this.months.reopened(event)
      this.#position = isItself ? event.position : undefined
      await this.add(commitment, published)
    }
  }

  /** The commitment of the next leaf, for whoever has no events, and as it was notarised, if otherwise. */
  async add(commitment: Buffer, notarised = commitment): Promise<void> {
    if (!notarised.equals(commitment)) this.#notarised ??= this.#tree.copy()
    this.#notarised?.addEntry(notarised)
    this.#tree.addEntry(commitment)
    this.#compareTiles((tree) => tree.takeFullTiles())
    const { size } = this.#tree
    if (size === this.#published.size) this.#compareTiles((tree) => tree.partialTiles())
    if (size === this.#noted?.size) this.#noted = this.#compareRoot(this.#noted, 'that was noted')
    if (!this.#isBegun) await this.#nextCheckpoint()
    while (this.#next && this.#next.size <= size) {
      this.#compareRoot(this.#next)
      await this.cosignatures.over(this.#next)
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
    await this.cosignatures.end()
    await this.months.end(() => this.#published.checkpoints(), this.#from)
    if (this.#unnamed > 0)
      this.findings.push({ problem: `and ${this.#unnamed} more, up to leaf ${size - 1}` })
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

  #compareRoot(published: PublishedCheckpoint, which = `over ${published.size} events`): undefined {
    const { size, note } = published
    try {
      const checkpoint = signedCheckpoint(note, this.#trusted)
      if (checkpoint.size !== size)
        throw new MalformedNoteError(`it says that it is over ${checkpoint.size} events`)
      if (size !== this.#tree.size) throw new MalformedNoteError('there are two of this size')
      this.#compareBeside(published, checkpoint.root)
      const roots = this.#trees().map((tree) => tree.root())
      if (roots.some((root) => checkpoint.root.equals(root))) this.#signedThrough = size
      else this.#fork({ problem: `the first ${size} events are not those of the checkpoint ${which}` })
    } catch (error) {
      if (!(error instanceof MalformedNoteError)) throw error
      this.#note({ problem: `the checkpoint ${which} does not hold: ${error.message}` })
    }
    return undefined
  }

  /** What is kept beside a note is signed by nobody, and yet made use of. */
  #compareBeside({ size, root, position }: PublishedCheckpoint, signed: Buffer): void {
    const name = `the checkpoint over ${size} events`
    if (root && !root.equals(signed)) this.#note({ problem: `the root beside ${name} is not the signed one` })
    const last = this.#position
    if (position !== undefined && last !== undefined && position !== last)
      this.#note({ problem: `${name} is kept as ending at position ${position}, and it ends at ${last}` })
  }

  /** Of both trees: what follows from an event that is another one is no fault of a tile or a checkpoint. */
  #trees(): readonly GrowingTree[] {
    return this.#notarised ? [this.#tree, this.#notarised] : [this.#tree]
  }

  #compareTiles(tilesOf: (tree: GrowingTree) => readonly Tile[]): void {
    const [made, ...others] = this.#trees().map(tilesOf)
    for (const [place, tile] of made!.entries())
      this.#compareTile([tile, ...others.map((tiles) => tiles[place]!)])
  }

  /** A tile, as each of the trees makes it. */
  #compareTile(tiles: readonly [Tile, ...Tile[]]): void {
    const { level, index, hashes } = tiles[0]
    const name = `${level}/${index}`
    const published = this.#published.tiles.get(name)
    const count = hashes.length / hashBytes
    // Beyond what was published there is nothing to compare with.
    if (this.#tree.size > this.#published.size) return
    if (!published) return this.#note({ problem: `tile ${name} is missing` })
    this.#tilesCompared++
    if (this.#isForked) return
    if (published.hashes !== count || !tiles.some((tile) => published.digest.equals(sha256(tile.hashes))))
      this.#note({ problem: `tile ${name} is not what its ${count} hashes make it` })
  }

  /** A key that a trusted one has announced is trusted from there on. A closed month is signed by one. */
  #openNoteOf(event: StoredEvent): void {
    const leaf = this.#tree.size
    try {
      if (event.type === closedType)
        return this.months.closed(event, { leaf, event: nameOf(event) }, this.#trusted)
      const { note } = event.data as { readonly note: string }
      this.#trusted.push(noteVerifier(announcedKey(note, this.#trusted)))
    } catch (error) {
      // Whoever changes an event may leave anything in it.
      this.#note({ leaf, problem: `${nameOf(event)} does not hold: ${(error as Error).message}` })
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

  /** Behind the last signature stands only what is new. The first that is not is told. */
  #requireNew(leaf: number, event: StoredEvent): void {
    const { at } = event.metadata
    if (!this.#isSigned || this.#isUnsignedTold || !this.#signedBefore) return
    const age = Date.parse(at) - this.#signedBefore.getTime()
    // What has no time at all is not new either. Clocks of merchants in the sandbox may be ahead.
    if (age >= 0 && (age <= newMs || mayBeAhead(event))) return
    this.#isUnsignedTold = true
    this.#note({ leaf, problem: `${nameOf(event)} was written at ${at}, and was never signed` })
  }

  /** One event too many or too few moves all that follow: that is told once, and what else is changed. */
  #tell(leaf: number, event: StoredEvent, commitment: Buffer): void {
    const name = nameOf(event)
    const elsewhere = this.#leaves.nearby(commitment)
    if (elsewhere === undefined) return this.#note({ leaf, problem: `${name} is not what was notarised` })
    if (elsewhere - leaf === this.#shift) return
    this.#shift = elsewhere - leaf
    this.#note({ leaf, problem: `${name} was notarised as leaf ${elsewhere}, and stands as leaf ${leaf}` })
  }

  /** By its position an event finds its leaf. */
  #isWhereItWas(leaf: number, event: StoredEvent): void {
    this.#shift = 0
    const kept = this.#leaves.positionOf(leaf)
    if (kept === undefined || kept === event.position) return
    const problem = `${nameOf(event)} is at position ${event.position}, and its leaf is kept for ${kept}`
    this.#note({ leaf, problem })
  }

  #fork(finding: TreeFinding): void {
    if (!this.#isForked) this.#note(finding)
    this.#isForked = true
  }

  #note(finding: TreeFinding): void {
    if (this.findings.length < findingsMax) this.findings.push(finding)
    else this.#unnamed++
  }
}
