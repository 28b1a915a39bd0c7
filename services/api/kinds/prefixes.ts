import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { idPrefixes } from '../../../packages/domain/index.ts'

/** Which prefixes the id in the path of a row may carry. */
export function prefixesOf({ kinds = [] }: AnyRoute): readonly string[] {
  return kinds.flatMap((kind) => idPrefixes[kind] ?? [])
}
