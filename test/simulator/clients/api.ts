import type { Caller } from '../../../packages/contract/access/callers.ts'
import type { AnyRoute, Dependencies } from '../../../packages/contract/routes.ts'
import { answer } from '../../../services/api/http/answer.ts'
import { keyOf } from '../../../services/api/kinds/idempotency.ts'
import { subjectOf } from '../../../services/api/kinds/prefixes.ts'
import { HttpRequest } from '../../../services/api/http/request.ts'
import { balanceRoutes } from '../../../services/api/routes/balances.ts'
import { checkoutRoutes } from '../../../services/api/routes/checkout.ts'
import { paymentIntentRoutes } from '../../../services/api/routes/payment-intents.ts'
import { paymentLinkRoutes } from '../../../services/api/routes/payment-links.ts'
import { paymentRoutes } from '../../../services/api/routes/payments.ts'
import { payoutRoutes } from '../../../services/api/routes/payouts.ts'
import { testRoutes } from '../../../services/api/routes/test.ts'
import { ownerOf } from '../../../packages/kernel/owner.ts'

export interface Asked {
  readonly operation: string
  readonly caller: Caller
  readonly key: string | undefined
  readonly params: Readonly<Record<string, string>>
  readonly body: object | undefined
}

const table: readonly AnyRoute[] = [
  ...payoutRoutes,
  ...paymentIntentRoutes,
  ...checkoutRoutes,
  ...paymentLinkRoutes,
  ...paymentRoutes,
  ...testRoutes,
  ...balanceRoutes,
]
const routes: ReadonlyMap<string, AnyRoute> = new Map(table.map((route) => [route.operation, route]))

/** What services/api/http/handle.ts does behind authentication and validation: the same rows and keys. */
export async function ask(
  dependencies: Dependencies,
  { operation, caller, key, params, body }: Asked,
): Promise<unknown> {
  const route = routes.get(operation)
  if (!route) throw new Error(`${operation} is no operation`)
  const isRead = operation.startsWith('GET ')
  const keyed = isRead
    ? undefined
    : await keyOf(
        route,
        { header: key, caller, owner: ownerOf(caller), params, body },
        dependencies.blindIndex,
      )
  const correlation = dependencies.newId()
  const request = new HttpRequest({
    dependencies,
    params,
    body,
    caller,
    envelope: {
      ...ownerOf(caller),
      actor: caller.actor,
      correlation,
      ...(keyed && { idempotencyKey: keyed.answerKey.key, fingerprint: keyed.fingerprint }),
    },
    id: keyed?.id ?? dependencies.newId(),
    subject: subjectOf(route, caller, params),
    path: operation,
    query: {},
    minPosition: undefined,
    lastWritten: 0,
    ifRevision: undefined,
    findClient: () => ({ address: null, device: null, country: null, language: null }),
    keyed,
  })
  return (await answer(dependencies, { route, asked: request, keyed })).body
}
