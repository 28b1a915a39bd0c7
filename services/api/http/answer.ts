import { statusOf } from '../../../packages/contract/lists/query.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute, Dependencies } from '../../../packages/contract/routes.ts'
import { answeredOnce, startedBefore, startedStream } from '../kinds/idempotency.ts'
import type { Keyed } from '../kinds/keyed.ts'
import { kinds } from '../kinds/kinds.ts'
import { viewed } from '../kinds/viewed.ts'
import type { HttpRequest } from './request.ts'
import type { Reply } from './respond.ts'
import { sealedAnswers } from '../kinds/sealed-answers.ts'

export interface Asked {
  readonly route: AnyRoute
  readonly asked: HttpRequest
  readonly keyed: Keyed | undefined
  /** Checked before work is done, but not before a stored answer is repeated. */
  readonly prepare?: () => Promise<void>
}

/** Carries out a request, or repeats the answer of its first try. */
export async function answer(
  dependencies: Dependencies,
  { route, asked, keyed, prepare }: Asked,
): Promise<Reply> {
  const status = statusOf(route)
  const work = async (isResumed = false) => {
    if (isResumed) asked.resume()
    if (route.environment === 'sandbox only' && asked.caller.livemode) refuse('resource_must_exist')
    await prepare?.()
    return { status, body: await kinds[route.kind](route, asked), replayed: false }
  }
  if (!keyed) return work()
  const started = startedStream(route)
  const { answers, vault, store } = dependencies
  if (!started) return answeredOnce(route.showsSecret ? sealedAnswers(answers, vault) : answers, keyed, work)
  const asBefore = async (): Promise<Reply | undefined> => {
    const found = await startedBefore(keyed, { store, ...started })
    const body = found && (await viewed(started, asked, found))
    return body === undefined ? undefined : { status, body, replayed: true }
  }
  const earlier = started.comesFirst?.(asked.body as never) ? undefined : await asBefore()
  if (earlier) return earlier
  let reply: Reply
  try {
    reply = await work()
  } catch (error) {
    const answered = await asBefore()
    if (answered) return answered
    throw error
  }
  // The same request may have been faster a moment ago: then both get its answer.
  return asked.hasStarted ? reply : ((await asBefore()) ?? reply)
}
