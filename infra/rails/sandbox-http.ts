import { Pool } from 'undici'
import type { RailState } from '../../packages/kernel/ports/rails.ts'
import type { CalledBack, ClaimedCallback, KnownOperation, SandboxBook, Submission } from './sandbox-book.ts'
import type { Call } from './sandbox-calls.ts'

export interface HttpSandboxBookOptions {
  /** Where `npm run start:sandbox` listens. */
  readonly url: string
  /** For the whole call, including the wait for a connection. */
  readonly timeoutMs?: number
}

const timeoutMsDefault = 5_000
const connectTimeoutMs = 2_000
const connectionsMax = 64

/**
 * The simulated operators' records in another process. Every failure rejects, even one after the call
 * arrived: the caller must treat the outcome as unknown.
 */
export class HttpSandboxBook implements SandboxBook {
  readonly #pool: Pool
  readonly #path: string
  readonly #timeoutMs: number

  constructor({ url, timeoutMs = timeoutMsDefault }: HttpSandboxBookOptions) {
    const { origin, pathname } = new URL(url)
    this.#path = pathname.replace(/\/$/, '')
    this.#pool = new Pool(origin, { connections: connectionsMax, connect: { timeout: connectTimeoutMs } })
    this.#timeoutMs = timeoutMs
  }

  submit(submission: Submission): Promise<RailState> {
    return this.#call('submit', submission)
  }

  async find(reference: string): Promise<KnownOperation | undefined> {
    return (await this.#call<KnownOperation | null>('find', { reference })) ?? undefined
  }

  advance(due: Parameters<SandboxBook['advance']>[0]): Promise<number> {
    return this.#call('advance', due)
  }

  claimCallbacks(claim: Parameters<SandboxBook['claimCallbacks']>[0]): Promise<readonly ClaimedCallback[]> {
    return this.#call('claim', claim)
  }

  async settleCallbacks(callbacks: readonly CalledBack[]): Promise<void> {
    await this.#call('settle', { callbacks })
  }

  resolve(reference: string, state: RailState, now: Date): Promise<RailState> {
    return this.#call('resolve', { reference, state, now })
  }

  /** Calls in flight fail. */
  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #call<Answer>(name: Call, question: object): Promise<Answer> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: `${this.#path}/${name}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(question),
      signal: AbortSignal.timeout(this.#timeoutMs),
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`the simulated operators answered ${statusCode}: ${text}`)
    // Both sides are this program, so the answer has the type that its own records return.
    return JSON.parse(text) as Answer
  }
}
