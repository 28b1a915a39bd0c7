import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { fenced, type Fence } from '../../infra/postgres/consumers/fence.ts'
import {
  lastCheckpoint,
  readTile,
  type KeptCheckpoint,
} from '../../infra/postgres/transparency/tree-store.ts'
import { TileProofs } from '../../infra/transparency/proofs.ts'
import {
  noteVerifier,
  parseNote,
  parseSignature,
  verifiedSigners,
  type NoteVerifier,
} from '../../infra/transparency/signed-note.ts'
import type { Log, Subscription } from '../../packages/kernel/ports.ts'

/** A witness that vouches that the log only grows. */
export interface Witness {
  /** URL of its `add-checkpoint`. */
  readonly url: string
  readonly verifierKey: string
}

export interface WitnessesOptions {
  readonly witnesses: readonly Witness[]
  readonly pool: pg.Pool
  readonly fence?: Fence
  readonly log: Log
}

const everyMs = 1_000
const timeoutMs = 10_000
/** Nobody proves that a log has grown from a part of a leaf. */
const sizeAnswered = /^(0|[1-9]\d{0,15})\n?$/
const answerShown = 200
const backOffMs = { first: 2_000, most: 60_000 }

/** Sends each witness the newest checkpoint. One that is down does not affect the others. */
export function followWitnesses(options: WitnessesOptions): Subscription {
  const stop = new AbortController()
  const all = options.witnesses.map((witness) => new Submission(witness, options).run(stop.signal))
  const close = async () => {
    stop.abort()
    await Promise.all(all)
  }
  return { close }
}

class Submission {
  readonly #options: WitnessesOptions
  readonly #witness: Witness
  readonly #verifier: NoteVerifier
  /** The size that the witness has seen, as far as known: 0 until it says otherwise. */
  #seen = 0

  constructor(witness: Witness, options: WitnessesOptions) {
    this.#witness = witness
    this.#options = options
    this.#verifier = noteVerifier(witness.verifierKey)
  }

  async run(signal: AbortSignal): Promise<void> {
    let signed = 0
    let backOff = backOffMs.first
    while (!signal.aborted) {
      let waitMs = everyMs
      try {
        const newest = await lastCheckpoint(this.#options.pool)
        if (newest && newest.size > signed) {
          await this.#submit(newest, signal)
          signed = newest.size
        }
        backOff = backOffMs.first
      } catch (error) {
        if (signal.aborted) return
        this.#options.log.warn({ error, witness: this.#verifier.name }, 'a witness has not signed')
        waitMs = backOff
        backOff = Math.min(2 * backOff, backOffMs.most)
      }
      await pause(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** A wrong size makes it answer with the one it has seen last. */
  async #submit(checkpoint: KeptCheckpoint, signal: AbortSignal): Promise<void> {
    let answer = await this.#post(checkpoint, signal)
    if (answer.status === 409) {
      const [, size = ''] = sizeAnswered.exec(answer.body) ?? []
      if (size === '' || Number(size) > checkpoint.size) {
        const seen = answer.body.trim().slice(0, answerShown)
        throw new Error(`it has seen a log of ${seen} leaves, and this one has ${checkpoint.size}`)
      }
      this.#seen = Number(size)
      answer = await this.#post(checkpoint, signal)
    }
    if (answer.status !== 200)
      throw new Error(`it answers ${answer.status}: ${answer.body.trim().slice(0, answerShown)}`)
    await this.#keep(checkpoint, answer.body)
    this.#seen = checkpoint.size
  }

  async #post({ size, note }: KeptCheckpoint, signal: AbortSignal) {
    const { pool } = this.#options
    const proofs = new TileProofs(size, async (name) => {
      const tile = await readTile(pool, name)
      if (!tile) throw new Error(`the tree of the log has no tile ${name.level}/${name.index}`)
      return tile
    })
    const proof = await proofs.consistency(this.#seen)
    const lines = proof.map((hash) => `${hash.toString('base64')}\n`).join('')
    const response = await fetch(`${this.#witness.url.replace(/\/$/, '')}/add-checkpoint`, {
      method: 'POST',
      body: `old ${this.#seen}\n${lines}\n${note}`,
      redirect: 'error',
      // Not AbortSignal.any: in Node 20 a signal that only it refers to is garbage-collected.
      signal: AbortSignal.timeout(timeoutMs),
    })
    signal.throwIfAborted()
    return { status: response.status, body: await response.text() }
  }

  /** Only a signature by the configured key counts. */
  async #keep({ size, note }: KeptCheckpoint, body: string): Promise<void> {
    const { text } = parseNote(note)
    const line = body
      .split('\n')
      .filter((each) => each !== '')
      .find(
        (each) => verifiedSigners({ text, signatures: [parseSignature(each)] }, [this.#verifier]).size > 0,
      )
    if (line === undefined) throw new Error('its answer has no signature by its key')
    const { pool, fence } = this.#options
    await fenced(pool, fence, (connection) =>
      connection.query(
        'insert into log_cosignatures (size, witness, line) values ($1, $2, $3) on conflict do nothing',
        [size, this.#verifier.name, `${line}\n`],
      ),
    )
  }
}
