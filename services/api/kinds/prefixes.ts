import { identity, publicId } from '../../../packages/contract/identity.ts'
import { objectName } from '../../../packages/contract/resource.ts'
import type { Caller } from '../../../packages/contract/access/callers.ts'
import { Refusal, refuse, refuseField, type RefusalName } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { idPrefixes, missing } from '../../../packages/domain/index.ts'

/** The prefixes that an id of these kinds may have; a bare UUID is always one. */
function prefixesOf(kinds: readonly string[]): readonly string[] {
  return kinds.flatMap((kind) => idPrefixes[kind] ?? [])
}

/** Converts path ids to UUIDs, whatever their spelling; an invalid id cannot be found. */
export function pathParameters(
  { params: named = {} }: AnyRoute,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  for (const [name, text] of Object.entries(given)) {
    const kinds = [named[name] ?? 'text'].flat()
    params[name] = kinds.includes('text')
      ? text
      : (identity(text, ...prefixesOf(kinds)) ??
        refuse(missingOf(kinds[0]!), { detail: noneOf(kinds, text) }))
  }
  return params
}

/** The stream that a row is about: the caller's own, `{id}`, or else what the path names last. */
export function subjectOf(
  { subject }: AnyRoute,
  caller: Caller,
  params: Readonly<Record<string, string>>,
): string | undefined {
  return subject?.(caller) ?? params['id'] ?? Object.values(params).at(-1)
}

/** A generic "not found" becomes one that names the kind: the innermost one in the path. */
export function withKind(route: AnyRoute, params: Readonly<Record<string, string>>, error: unknown): unknown {
  const isGeneric =
    error instanceof Refusal && error.reason === 'resource_must_exist' && !error.details.detail
  if (!isGeneric) return error
  const [name, kind] = Object.entries(route.params ?? {}).at(-1) ?? []
  if (name === undefined || kind === 'text') return error
  const [own] = [kind!].flat()
  const prefix = idPrefixes[own!]
  const id = params[name]!
  return new Refusal(missingOf(own!), { detail: noneOf([own!], prefix ? publicId(prefix, id) : id) })
}

function missingOf(kind: string): RefusalName {
  return missing[kind] ?? 'resource_must_exist'
}

/** `No payout po_…`. */
export function noneOf(kinds: readonly string[], text: string): string {
  return `No ${kinds[0]!.replaceAll('_', ' ')} ${text.slice(0, 64)}`
}

/** Refuses an id in the body that names nothing of the caller's. */
export function refuseUnknown(pointer: string, kind: string, text: string): never {
  return refuseField('resource_must_exist', pointer, noneOf([kind], text))
}

/** The id of a list item, as `starting_after` gives it. */
export function itemId({ returns }: AnyRoute, text: string): string | undefined {
  return identity(text, ...prefixesOf([objectName(returns) ?? '']))
}
