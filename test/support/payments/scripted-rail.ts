import { eventually } from '../eventually.ts'
import type {
  PaymentRail,
  RailCallback,
  RailRequest,
  RailState,
} from '../../../packages/kernel/ports/rails.ts'

// What a provider may say of a payment or refund at last.

export const succeeded: RailState = { state: 'succeeded' }
export const failed: RailState = { state: 'failed', code: 'processing_error', message: 'no' }
export const returned: RailState = { state: 'returned' }

/** An operator that says what the test says, even against what it has said before. */
export class ScriptedRail implements PaymentRail {
  readonly requests: RailRequest[] = []
  readonly #states = new Map<string, RailState>()
  /** The answer to a submission. */
  answer: (request: RailRequest) => RailState = () => ({ state: 'pending' })
  #handle: ((callback: RailCallback) => Promise<void>) | undefined

  submit = async (request: RailRequest): Promise<RailState> => {
    const known = this.#states.get(request.reference)
    if (known) return known
    this.requests.push(request)
    const state = this.answer(request)
    this.#states.set(request.reference, state)
    return state
  }
  status = async (reference: string): Promise<RailState> =>
    this.#states.get(reference) ?? { state: 'never_received' }
  health = async () => 'up' as const
  onCallback = (handle: (callback: RailCallback) => Promise<void>) => {
    this.#handle = handle
    return { close: async () => undefined }
  }

  /** Its answer to queries from now on. */
  set(reference: string, result: RailState): void {
    this.#states.set(reference, result)
  }

  /** Reports as a callback; its answer to queries stays as it is, unless set. */
  async report(reference: string, result: RailState): Promise<void> {
    const request = await this.submitted(({ reference: each }) => each === reference)
    const { kind, merchant, livemode } = request
    await eventually(
      async () => this.#handle,
      (handle) => handle !== undefined,
    )
    await this.#handle!({ reference, kind, merchant, livemode, result })
  }

  /** Says it as a callback, and from now on when queried. */
  async say(reference: string, result: RailState): Promise<void> {
    await this.submitted(({ reference: each }) => each === reference)
    this.set(reference, result)
    await this.report(reference, result)
  }

  /** The first request of this kind, once it has arrived. */
  async submitted(isMeant: (request: RailRequest) => boolean): Promise<RailRequest> {
    const found = await eventually(
      async () => this.requests.find(isMeant),
      (request) => request !== undefined,
      20_000,
    )
    return found!
  }
}
