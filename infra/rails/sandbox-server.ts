import type { IncomingMessage, RequestListener } from 'node:http'
import type { SandboxBook } from './sandbox-book.ts'
import { CallRefusedError, calls, decodeCall, type Call, type Question } from './sandbox-calls.ts'

type Answers = { readonly [Name in Call]: (question: Question<Name>) => Promise<unknown> }

/** Claimed callbacks are settled in one call: up to 500 of them. */
const bodyBytesMax = 1_000_000

/** Serves the simulated operators' records to `HttpSandboxBook`. Errors go to `onError`. */
export function serveBook(book: SandboxBook, onError: (error: unknown) => void): RequestListener {
  const answers: Answers = {
    submit: (submission) => book.submit(submission),
    find: async ({ reference }) => (await book.find(reference)) ?? null,
    advance: (due) => book.advance(due),
    claim: (claim) => book.claimCallbacks(claim),
    settle: async ({ callbacks }) => (await book.settleCallbacks(callbacks)) ?? null,
    resolve: ({ reference, state, now }) => book.resolve(reference, state, now),
  }

  async function answer({ method, url }: IncomingMessage, body: string): Promise<Answer> {
    const name = url?.slice(1) ?? ''
    if (method !== 'POST' || !isCall(name)) {
      return { status: 404, body: { error: `POST one of ${Object.keys(calls).join(', ')}` } }
    }
    return { status: 200, body: await carryOut(answers, name, parse(body)) }
  }

  return (request, response) => {
    void bodyOf(request)
      .then((body) => answer(request, body))
      .catch((error: unknown) => failed(error, onError))
      .then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

function isCall(name: string): name is Call {
  return Object.hasOwn(calls, name)
}

function carryOut<Name extends Call>(answers: Answers, name: Name, body: unknown): Promise<unknown> {
  return answers[name](decodeCall(name, body))
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new CallRefusedError('the body is not JSON')
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) throw new CallRefusedError(`the body has more than ${bodyBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The caller repeats what failed here, but must not repeat an invalid call. */
function failed(error: unknown, onError: (error: unknown) => void): Answer {
  if (error instanceof CallRefusedError) return { status: 400, body: { error: error.message } }
  onError(error)
  return { status: 503, body: { error: 'the book cannot be written now' } }
}
