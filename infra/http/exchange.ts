import type { Dispatcher } from 'undici'

export interface CallAnswer {
  readonly status: number
  readonly body: string
}

export class CallTimedOutError extends Error {
  override readonly name = 'CallTimedOutError'
}

export interface HttpCallLimits {
  /** From the first byte of the name's look-up to the last byte of the answer that is read. */
  readonly timeoutMs: number
  /** Bytes of an answer's body beyond this many are not read. */
  readonly answerBytesMax: number
}

/**
 * One request and its answer as undici tells of them. Its handlers are used directly, because `request` with
 * a stream for each answer and a signal for each time-out costs three times as much.
 */
export class HttpCall implements Dispatcher.DispatchHandler {
  readonly answer: Promise<CallAnswer>
  readonly #answerBytesMax: number
  readonly #timer: NodeJS.Timeout
  #resolve!: (answer: CallAnswer) => void
  #reject!: (error: unknown) => void
  #isSettled = false
  /** Missing until the request has a connection. */
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor({ timeoutMs, answerBytesMax }: HttpCallLimits) {
    this.#answerBytesMax = answerBytesMax
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#timer = setTimeout(expire, timeoutMs, this, timeoutMs)
  }

  /** A request that was given up while it waited for a connection is not sent any more. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isSettled) controller.abort(new Error('given up before it was sent'))
  }

  /** Called once more for each informational answer before the real one. */
  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status
  }

  /** Aborting closes the connection, so an endless answer costs no more than what is kept of it. */
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes < this.#answerBytesMax) return
    this.onResponseEnd()
    // Undici's parser is at work here, so it is stopped first and destroyed when it has returned.
    controller.pause()
    queueMicrotask(() => controller.abort(new Error('enough of the answer was read')))
  }

  onResponseEnd(): void {
    if (this.#settle()) this.#resolve({ status: this.#status, body: this.#body() })
  }

  onResponseError(_: unknown, error: unknown): void {
    if (this.#settle()) this.#reject(error)
  }

  expire(timeoutMs: number): void {
    const error = new CallTimedOutError(`no answer in ${timeoutMs} ms`)
    this.onResponseError(undefined, error)
    this.#controller?.abort(error)
  }

  /** False when the end was known before. */
  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    clearTimeout(this.#timer)
    return true
  }

  #body(): string {
    if (this.#bytes === 0) return ''
    return Buffer.concat(this.#chunks).subarray(0, this.#answerBytesMax).toString('utf8')
  }
}

function expire(exchange: HttpCall, timeoutMs: number): void {
  exchange.expire(timeoutMs)
}
