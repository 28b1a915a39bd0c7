import type { Dependencies } from '../../../../packages/contract/routes.ts'
import { apiKey, apiKeyId, type ExistingApiKey } from '../../../../packages/domain/api-keys/api-key.ts'

const everyMsDefault = 60_000
/** A process that cannot write asks no more often than this. */
const askedAgainMs = 600_000
const pendingMax = 20_000

type Used = Pick<ExistingApiKey, 'hash' | 'merchant' | 'livemode'>

/**
 * Notes that keys are used: about once a day each, all together once a minute, so that no request waits for
 * it. A process that is killed forgets a minute of it.
 */
export class KeyUses {
  readonly #parts: Pick<Dependencies, 'executor' | 'newId' | 'log'>
  readonly #timer: NodeJS.Timeout
  #pending = new Map<string, Used>()
  #writing: Promise<void> = Promise.resolve()

  constructor(parts: Pick<Dependencies, 'executor' | 'newId' | 'log'>, everyMs = everyMsDefault) {
    this.#parts = parts
    this.#timer = setInterval(() => (this.#writing = this.#writing.then(() => this.#write())), everyMs)
    this.#timer.unref()
  }

  /** Returns when the caller should ask again. */
  note(key: Used, now: number): number {
    if (this.#pending.size < pendingMax) this.#pending.set(key.hash, key)
    return now + askedAgainMs
  }

  async #write(): Promise<void> {
    const pending = this.#pending
    this.#pending = new Map()
    const { executor, newId, log } = this.#parts
    for (const { hash, merchant, livemode } of pending.values()) {
      const envelope = { merchant, livemode, actor: 'service', correlation: newId() }
      const command = { type: 'NoteApiKeyUsed', data: {} } as const
      try {
        await executor.send(apiKey, apiKeyId(hash), command, envelope)
      } catch (error) {
        log.warn({ error }, 'the last use of a key is noted later')
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
  }
}
