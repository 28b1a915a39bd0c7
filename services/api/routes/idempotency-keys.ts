import { perform, type AnyRoute } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { IdempotencyKeyResource, showIdempotencyKey } from '../actions/idempotency-keys.ts'

/** An addition of ours, for clients that have lost the answer to a keyed request. */
export function idempotencyKeyRoutes(table: readonly AnyRoute[]): readonly AnyRoute[] {
  const row = perform('GET /api/v1/idempotency-keys/{key}', {
    summary: 'What became of an idempotency key',
    scope: 'payments.read',
    params: { key: 'text' },
    inferred: true,
    refusals: ['resource_must_exist'],
    returns: IdempotencyKeyResource,
    action: showIdempotencyKey(table),
  })
  const description =
    'Where a payment stands, for the payer and for support; and what became of an idempotency key.'
  return section('Operations', description, [row])
}
