import { partsOf } from '../../../packages/contract/openapi/names.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'

/**
 * Paths as they may be logged: whoever knows a payer's session or link may pay it and see its receipt, also
 * where the rest of the path is mistyped or the method is another one.
 */
export function pathsForLogs(routes: readonly AnyRoute[]): (path: string) => string {
  const prefixes = new Map(routes.flatMap(prefixOfToken))
  return (path) => {
    for (const [prefix, name] of prefixes) {
      if (!path.toLowerCase().startsWith(prefix)) continue
      const [, ...rest] = path.slice(prefix.length).split('/')
      return [`${prefix}{${name}}`, ...rest].join('/')
    }
    return path
  }
}

/** `/checkout/session/` and the name of what stands behind it. */
function prefixOfToken(route: AnyRoute): readonly (readonly [string, string])[] {
  const { token } = route
  if (token === undefined) return []
  const [prefix] = partsOf(route).path.split(`{${token}}`) as [string]
  return [[prefix.toLowerCase(), token]]
}
