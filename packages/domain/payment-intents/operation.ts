import { publicId } from '../../contract/identity.ts'
import { literals, nullable, record, Timestamp, Type, type Static } from '../../contract/vocabulary.ts'
import { returnAddress } from './return-url.ts'

const operationTypes = ['payment', 'payout', 'refund'] as const
const operationStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const

export const OperationResource = record({
  id: Type.String(),
  object: literals('operation'),
  livemode: Type.Boolean(),
  type: literals(...operationTypes),
  status: literals(...operationStatuses),
  resource: record({ object: Type.String(), id: Type.String() }),
  message: nullable(Type.String()),
  updated_at: Timestamp,
  redirect_url: nullable(Type.String()),
})

export type OperationView = Static<typeof OperationResource>

const prefixes = { payment_intent: 'pi', payout: 'po', refund: 're' } as const

/** A row of the read model `operations`. */
export interface OperationRow {
  readonly id: string
  readonly merchant: string
  readonly livemode: boolean
  readonly type: OperationView['type']
  readonly status: OperationView['status']
  readonly resource_object: keyof typeof prefixes
  readonly resource: string
  readonly message: string | null
  /** The provider's page, if the payer has to go there. */
  readonly provider_url: string | null
  /** Where the merchant wants the payer to return to. */
  readonly return_url: string | null
  readonly updated_at: string
}

export function viewOperation(row: OperationRow): OperationView {
  return {
    id: publicId('op', row.id),
    object: 'operation',
    livemode: row.livemode,
    type: row.type,
    status: row.status,
    resource: { object: row.resource_object, id: publicId(prefixes[row.resource_object], row.resource) },
    message: row.message,
    updated_at: row.updated_at,
    redirect_url: redirectUrl(row),
  }
}

/** While the operation is open, the provider's page; then the merchant's. */
function redirectUrl({ id, status, resource, provider_url, return_url }: OperationRow): string | null {
  if (status === 'pending') return provider_url
  return return_url && returnAddress(return_url, { status, paymentIntent: resource, operationId: id })
}
