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
  const prefixes = new Map(routes.flatMap(prefixOfToken))
  const opening = openingTexts(routes)
  return (path) => {
    const plain = decoded(path).replaceAll(/[/\\]+(?:\.[/\\]+)*/g, '/')
    const lower = plain.toLowerCase()
    for (const [prefix, name] of prefixes) {
      const at = lower.indexOf(prefix)
      if (at < 0) continue
      const [, ...rest] = plain.slice(at + prefix.length).split('/')
      return written([`${plain.slice(0, at)}${prefix}{${name}}`, ...rest])
    }
    return written(plain.replaceAll(opening, '{id}').split('/'))
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
const secret = /(?<![\w-])(?:ik_[\w-]+|whsec_[\w+/=-]+|eyJ[\w-]+\.[\w.-]+|[\da-f]{64,})/gi

/** A part of a path that is an address or a number, as from who takes it for an id. */
function isPerson(part: string): boolean {
  return part.includes('@') || (/^\+?[\d ().-]+$/.test(part) && isNumber(part))
}

const dayForm = /^\d{4}-\d{2}(?:-\d{2})?$/

function isNumber(part: string): boolean {
  return !dayForm.test(part) && part.replaceAll(/\D/g, '').length >= 7
}

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
