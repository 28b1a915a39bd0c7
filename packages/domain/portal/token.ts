export const portalTokenPrefix = 'pst'

/**
 * What opens a portal: the session's id, by which it is found without a read model, and a secret. As keys do,
 * it tells people its environment.
 */
export function portalToken(id: string, livemode: boolean, secret: string): string {
  return `${portalTokenPrefix}_${livemode ? 'live' : 'test'}_${id.replaceAll('-', '')}${secret}`
}

const form = /^pst_(?:test|live)_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})[\w-]{44}$/

/** The session that a text would open if it were its token; `undefined` for any other text. */
export function sessionOfToken(token: string): string | undefined {
  const [, ...groups] = form.exec(token) ?? []
  return groups.length === 0 ? undefined : groups.join('-')
}
