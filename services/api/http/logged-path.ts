import { partsOf } from '../../../packages/contract/openapi/names.ts'
import { objectName } from '../../../packages/contract/resource.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { idPrefixes } from '../../../packages/domain/index.ts'
import { portalTokenPrefix } from '../../../packages/domain/portal/token.ts'

/**
 * Paths as they may be logged: whoever knows a payer's session or link may pay it and see its receipt, also
 * where the rest of the path is mistyped or the method is another one.
 */
export function pathsForLogs(routes: readonly AnyRoute[]): (path: string) => string {
  const prefixes = new Map(routes.flatMap(prefixOfToken))
  const opening = openingTexts(routes)
  return (path) => {
    const plain = path.replaceAll(/(?:\/|%2f)+/gi, '/')
    const lower = plain.toLowerCase()
    for (const [prefix, name] of prefixes) {
      const at = lower.indexOf(prefix)
      if (at < 0) continue
      const [, ...rest] = plain.slice(at + prefix.length).split('/')
      return [`${plain.slice(0, at)}${prefix}{${name}}`, ...rest].join('/')
    }
    const parts = plain.replaceAll(opening, '{id}').split('/')
    return parts.map((part) => (person.test(part) ? '{person}' : part)).join('/')
  }
}

/** A part of a path that is an address or a number, as from who takes it for an id. */
const person = /@|%40|^(?:\+|%2b)?\d{7,}$/i

/** `/checkout/session/` and the name of what stands behind it. */
function prefixOfToken(route: AnyRoute): readonly (readonly [string, string])[] {
  const { token } = route
  if (token === undefined) return []
  const [prefix] = partsOf(route).path.split(`{${token}}`) as [string]
  return [[prefix.toLowerCase(), token]]
}

/** What opens a page for whoever knows it, wherever it stands: merchants name payers' sessions, too. */
function openingTexts(routes: readonly AnyRoute[]): RegExp {
  const kinds = routes.filter(({ secretId }) => secretId).map(({ returns }) => objectName(returns) ?? '')
  const prefixes = [...new Set(kinds.map((kind) => idPrefixes[kind])), portalTokenPrefix]
  return new RegExp(`(?<![a-z0-9])(?:${prefixes.join('|')})_[\\w-]+`, 'gi')
}
