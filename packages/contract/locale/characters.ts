/**
 * Cuts between characters, never inside one: half an emoji is not valid text, nor JSON that others can read.
 */

export function firstCharacters(text: string, count: number): string {
  // More code units than this are certainly more characters than wanted.
  return [...text.slice(0, 2 * count)].slice(0, count).join('')
}

export function lastCharacters(text: string, count: number): string {
  return [...text.slice(-2 * count)].slice(-count).join('')
}
