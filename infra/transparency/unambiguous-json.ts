/**
 * What every parser reads alike. Where an object names a member twice, some take the first and some the last:
 * then what was signed is not what everybody sees. Throws SyntaxError.
 */
export function unambiguousJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const read = JSON.stringify(value)
  if (read !== text && members(read) !== members(text)) throw new SyntaxError('a member is named twice')
  return value
}

const strings = /"(?:[^"\\]|\\.)*"/g

/** Outside of texts, each colon stands behind the name of a member. */
function members(json: string): number {
  return json.replace(strings, '').split(':').length - 1
}
