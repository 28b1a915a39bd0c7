import { posix } from 'node:path'
import { partsOf } from '../../../packages/contract/openapi/names.ts'
import { objectName } from '../../../packages/contract/resource.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { idPrefixes } from '../../../packages/domain/index.ts'
import { portalTokenPrefix } from '../../../packages/domain/portal/token.ts'

/**
 * Paths as they may be logged: whoever knows a payer's session or link may pay it and see its receipt, also
 * where the rest of the path is mistyped or the method is another one. Keys stand in paths of those who take
 * them for ids.
 */
export function pathsForLogs(routes: readonly AnyRoute[]): (path: string) => string {
  const kinds = kindsThatOpen(routes)
  const behind = secretsBehind(routes, kinds)
  const opening = openingTexts(kinds)
  return (path) => {
    // A query may be encoded with the path that it belongs to.
    const [plain] = decoded(path).split(/[?#]/) as [string]
    const hidden = behind.reduce(
      (text, [place, shown]) => text.replaceAll(place, shown),
      posix.normalize(plain.replaceAll('\\', '/')),
    )
    return written(hidden.replaceAll(opening, '{id}').split('/'))
  }
}

/** However often it is encoded, as by programs that encode what is encoded already. */
function decoded(path: string): string {
  let [text, before] = [path, '']
  for (let times = 0; times < encodedMost && text !== before; times++) {
    before = text
    text = text.replaceAll(/(?:%[0-9a-f]{2})+/gi, decodedRun)
  }
  return text
}

const encodedMost = 5

/** Of bytes that are no text, those that are letters by themselves. */
function decodedRun(run: string): string {
  try {
    return decodeURIComponent(run)
  } catch {
    return run.replaceAll(/%[0-7][0-9a-f]/gi, decodeURIComponent)
  }
}

/** On one line, and without what terminals obey. */
function written(parts: readonly string[]): string {
  const shown = parts.map((part) => (isPerson(part) ? '{person}' : part)).join('/')
  return shown.replaceAll(secret, '{secret}').replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)
}

/** Keys, secrets of endpoints, tokens of sessions and mails, and of pages of invoices. */
const secret = /(?<![\w-])(?:ik_[\w-]+|whsec_[\w+/=-]+|eyJ[\w-]+\.[\w.-]+)|[\da-f]{64,}/gi

/** A part of a path that is an address or a number, as from who takes it for an id. */
function isPerson(part: string): boolean {
  return part.includes('@') || isTelephone(part.replace(/^\p{L}+[:=]/u, ''))
}

const dayForm = /^\d{4}-\d{2}(?:-\d{2})?$/

/** Whatever stands between the digits: people copy numbers with spaces and dashes of every kind. */
function isTelephone(text: string): boolean {
  return !/[\p{L}_]/u.test(text) && !dayForm.test(text) && text.replaceAll(/\P{Nd}+/gu, '').length >= 7
}

/** Kinds of objects that strangers may open by their ids. */
function kindsThatOpen(routes: readonly AnyRoute[]): ReadonlySet<string> {
  return new Set(
    routes.filter(({ secretId }) => secretId).flatMap(({ returns }) => objectName(returns) ?? []),
  )
}

/** `/checkout/session/{sessionId}` and where it stands: whatever is there, since ids have two spellings. */
function secretsBehind(
  routes: readonly AnyRoute[],
  kinds: ReadonlySet<string>,
): readonly (readonly [place: RegExp, shown: string])[] {
  const prefixes = new Map(
    routes.flatMap((route) => {
      const { token, params = {} } = route
      const names = Object.keys(params).filter((name) => name === token || kinds.has(String(params[name])))
      return names.map((name) => [partsOf(route).path.split(`{${name}}`)[0]!, name] as const)
    }),
  )
  return [...prefixes].map(([prefix, name]) => [new RegExp(`${prefix}[^/]+`, 'gi'), `${prefix}{${name}}`])
}

/** What opens a page for whoever knows it, wherever it stands: merchants name payers' sessions, too. */
function openingTexts(kinds: ReadonlySet<string>): RegExp {
  const prefixes = [...[...kinds].map((kind) => idPrefixes[kind]), portalTokenPrefix]
  return new RegExp(`(?<![a-z0-9])(?:${prefixes.join('|')})_[\\w-]+`, 'gi')
}
