/** More than any cell that is what it should be. */
const charactersMax = 60
const columnsMax = 20

/** What a file says, for a message about it: a cell may be as long as the file. */
export function clipped(text: string, charactersAtMost = 5 * charactersMax): string {
  // Cut between characters: a half of one would be shown as another.
  const start = Array.from(text.slice(0, 2 * charactersAtMost + 2))
    .slice(0, charactersAtMost)
    .join('')
  return start.length < text.length ? `${start}…` : text
}

export function quoted(text: string): string {
  return `"${clipped(text, charactersMax)}"`
}

export function quotedColumns(names: readonly string[], joint = ', '): string {
  const shown = names.slice(0, columnsMax).map((name) => quoted(name.trim()))
  const more = names.length - shown.length
  return [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join(joint)
}
