/** Cuts between characters, never through one: half an emoji is no text, and no JSON that others read. */

export function firstCharacters(text: string, count: number): string {
  // Beyond so many units there are more characters than asked for.
  return [...text.slice(0, 2 * count)].slice(0, count).join('')
}

export function lastCharacters(text: string, count: number): string {
  return [...text.slice(-2 * count)].slice(-count).join('')
}
