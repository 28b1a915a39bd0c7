import type { AnyRoute } from '../../../packages/contract/routes.ts'
import type { AnyRequest } from '../http/request.ts'

export interface Found {
  readonly id: string
  readonly state: unknown
}

type Viewing = Pick<AnyRoute, 'view' | 'beside'>

/** A state as its row shows it, with what the row shows beside it; most rows have nothing to wait for. */
export function viewed(viewing: Viewing, request: AnyRequest, found: Found): unknown {
  if (viewing.beside) return viewedBeside(viewing, request, found)
  return viewing.view!(...([found.id, found.state] as never))
}

async function viewedBeside({ view, beside }: Viewing, request: AnyRequest, { id, state }: Found) {
  const joined = await beside!(request as never, id, state as never)
  return view!(...([id, state, joined] as never))
}
