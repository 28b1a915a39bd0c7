import type { AnyRoute } from '../../../packages/contract/routes.ts'
import type { AnyRequest } from '../http/request.ts'

export interface Found {
  readonly id: string
  readonly state: unknown
}

/** A state as its row shows it, with what the row shows beside it. */
export async function viewed(
  { view, beside }: Pick<AnyRoute, 'view' | 'beside'>,
  request: AnyRequest,
  { id, state }: Found,
): Promise<unknown> {
  const joined = await beside?.(request as never, id, state as never)
  return view!(...([id, state, joined] as never))
}
