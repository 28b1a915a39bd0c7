/** A tile as it was published; its content is remembered by its digest. */
export interface PublishedTile {
  readonly hashes: number
  readonly digest: Buffer
}

export interface PublishedCheckpoint {
  readonly size: number
  /** The signed note. */
  readonly note: string
  /** What stands beside the note, where it does. */
  readonly root?: Buffer
  /** Log position of the event of its last leaf, where that is kept. */
  readonly position?: number
}

/** A witness's signature under the checkpoint over so many events. */
export interface PublishedCosignature {
  readonly size: number
  readonly witness: string
  /** A line of signatures. */
  readonly line: string
}

export interface PublishedBundle {
  readonly index: number
  /** Of 256 leaves, of fewer in the last one. */
  readonly commitments: Buffer
  /** Log positions of their events, where those are kept. */
  readonly positions?: readonly number[]
}

/** What a log has published about itself. What grows fastest with the log is read piece by piece. */
export interface PublishedLog {
  /** Of the log, oldest first. */
  readonly verifierKeys: readonly string[]
  /** By `<level>/<index>`. */
  readonly tiles: ReadonlyMap<string, PublishedTile>
  /** How many leaves there are. */
  readonly size: number
  /** By growing size. */
  checkpoints(): AsyncIterable<PublishedCheckpoint>
  /** By growing size. */
  cosignatures(): AsyncIterable<PublishedCosignature>
  /** By growing index. */
  bundles(): AsyncIterable<PublishedBundle>
}
