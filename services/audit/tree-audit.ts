import { parseCheckpoint, type Checkpoint } from '../../infra/transparency/checkpoint.ts'
import { commitmentOf } from '../../infra/transparency/commitment.ts'
import { leafHash } from '../../infra/transparency/hashing.ts'
import {
  MalformedNoteError,
  parseNote,
  verifiedSigners,
  type NoteVerifier,
} from '../../infra/transparency/signed-note.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'

/** What a log has published about itself, oldest first. */
export interface PublishedLog {
  readonly verifiers: readonly NoteVerifier[]
  /** Signed notes, by growing size. */
  readonly checkpoints: readonly string[]
  /** Commitments of all leaves. */
  readonly commitments: readonly Buffer[]
}

export interface TreeFinding {
  /** Left out: the finding is about the log as a whole. */
  readonly leaf?: number
  readonly problem: string
}

/** Findings that say the same of thousands of events help nobody. */
const findingsMax = 20

/** Grows the tree again from the events themselves and compares it with all that was published. */
export class TreeAudit {
  readonly findings: TreeFinding[] = []
  readonly #published: PublishedLog
  readonly #tree = new GrowingTree()
  readonly #checkpoints: readonly Checkpoint[]
  #next = 0
  #isShifted = false

  /** `noted`: a checkpoint that the auditor has kept since last time. */
  constructor(published: PublishedLog, noted?: string) {
    this.#published = published
    const own = published.checkpoints.flatMap((note) => this.#opened(note, 'a checkpoint of the log'))
    const theirs = noted === undefined ? [] : this.#opened(noted, 'the checkpoint that was noted')
    this.#checkpoints = [...own, ...theirs].toSorted((one, other) => one.size - other.size)
  }

  get size(): number {
    return this.#tree.size
  }

  root(): Buffer {
    return this.#tree.root()
  }

  apply(event: StoredEvent): void {
    const leaf = this.#tree.size
    const commitment = commitmentOf(event)
    const published = this.#published.commitments[leaf]
    if (published && !published.equals(commitment)) this.#tell(leaf, event, commitment)
    this.#tree.add(leafHash(commitment))
    this.#compareRoots()
    this.#tree.takeTiles()
  }

  /** How many events nobody has signed yet. Events that are gone from the end are found here. */
  end(): number {
    const signed = this.#published.commitments.length
    if (this.#tree.size < signed)
      this.#note({
        problem: `${signed - this.#tree.size} events are missing at the end: ${signed} were notarised`,
      })
    for (const { size } of this.#checkpoints.slice(this.#next)) {
      if (size > this.#tree.size)
        this.#note({ problem: `a checkpoint tells of ${size} events, and ${this.#tree.size} are there` })
    }
    return Math.max(0, this.#tree.size - (this.#published.checkpoints.length > 0 ? signed : 0))
  }

  #opened(note: string, what: string): readonly Checkpoint[] {
    try {
      const parsed = parseNote(note)
      if (verifiedSigners(parsed, this.#published.verifiers).size === 0)
        throw new MalformedNoteError('no key of the log has signed it')
      return [parseCheckpoint(parsed.text)]
    } catch (error) {
      if (!(error instanceof MalformedNoteError)) throw error
      this.#note({ problem: `${what} does not hold: ${error.message}` })
      return []
    }
  }

  #compareRoots(): void {
    for (let next = this.#checkpoints[this.#next]; next?.size === this.#tree.size;) {
      if (!next.root.equals(this.#tree.root()))
        this.#note({ problem: `the first ${next.size} events are not those of the checkpoint over them` })
      next = this.#checkpoints[++this.#next]
    }
  }

  /** One event too many or too few moves all that follow: that is told once. */
  #tell(leaf: number, event: StoredEvent, commitment: Buffer): void {
    const { commitments } = this.#published
    const name = `event ${event.id} (${event.type}, ${event.stream} revision ${event.revision})`
    if (this.#isShifted) return
    const elsewhere = commitments.findIndex((one) => one.equals(commitment))
    if (elsewhere < 0) return this.#note({ leaf, problem: `${name} is not what was notarised` })
    this.#isShifted = Math.abs(elsewhere - leaf) === 1
    this.#note({ leaf, problem: `${name} was notarised as leaf ${elsewhere}, and stands as leaf ${leaf}` })
  }

  #note(finding: TreeFinding): void {
    if (this.findings.length < findingsMax) this.findings.push(finding)
  }
}
