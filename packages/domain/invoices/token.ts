/**
 * An invoice's address: its id, by which it is found without a read model, and a secret that only whoever was
 * given the address knows.
 */
export function tokenOf(id: string, secret: string): string {
  return `${id}${secret}`.replaceAll('-', '')
}

/** `undefined` for a text that is no such address. */
export function partsOfToken(token: string): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = /^([0-9a-f]{32})([0-9a-f]{32})$/i.exec(token) ?? []
  return id && secret ? { id: uuid(id), secret: uuid(secret) } : undefined
}

function uuid(digits: string): string {
  return digits.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
