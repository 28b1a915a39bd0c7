import type { IncomingMessage } from 'node:http'

/** What messengers, social networks and search engines call themselves. `Cubot` makes telephones. */
const previewers =
  /(?<!cu)bot\b|^whatsapp\/|facebookexternalhit|facebookcatalog|meta-externalagent|preview|crawler|spider|vkshare/i
const aheadOfTime = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const

/** Whether nobody has opened the link yet: somebody was sent it, or may be about to follow it. */
export function isLooking({ method, headers }: IncomingMessage): boolean {
  if (method === 'HEAD' || previewers.test(headers['user-agent'] ?? '')) return true
  return aheadOfTime.some((name) => /prefetch|preview/i.test(String(headers[name] ?? '')))
}
