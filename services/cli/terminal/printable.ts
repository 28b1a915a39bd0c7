/** C0 and C1 control characters, line separators and bidirectional controls. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/**
 * Untrusted text made safe for a terminal: what would move the cursor, colour, hide or reorder text is
 * escaped (`\u001b[2J`).
 */
export function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, spelled)
}

/** The same for several lines, whose line breaks are kept. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Escaped as in JSON, so that JSON stays valid JSON. */
function spelled(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
