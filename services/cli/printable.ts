/** Control characters of both ranges, line separators, and what turns the direction of writing. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/**
 * Text that others wrote, as a terminal may show it: what would move the cursor, colour, hide or reorder
 * what stands there is spelled out (`\u001b[2J`).
 */
export function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, spelled)
}

/** The same for several lines: they stay lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** As JSON spells it, so that JSON with it is still JSON. */
function spelled(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
