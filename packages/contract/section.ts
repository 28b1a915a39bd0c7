/** A section of the reference. */
export interface Section {
  readonly tag: string
  readonly description: string
}

/** The rows of one section, in order. */
export function section<Row extends object>(tag: string, description: string, rows: readonly Row[]) {
  return rows.map((row) => ({ ...row, section: { tag, description } }))
}
