/** A short message to a telephone. */
export interface TextMessage {
  /** The same for a repeat. */
  readonly id: string
  /** E.164. */
  readonly to: string
  readonly text: string
}

export interface Texter {
  /** Resolves when the gateway has accepted it. Rejects with TextRefusedError when it never will. */
  send(message: TextMessage): Promise<void>
}

/** The gateway does not accept this message, and would not if it were sent again. */
export class TextRefusedError extends Error {
  override readonly name = 'TextRefusedError'
}
