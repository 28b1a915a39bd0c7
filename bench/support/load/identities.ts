const seededPrefix = '01900000-0000-7000-8000-'

/** The id of the payout with this number, in stores that are filled by SQL. */
export function seededId(number: number): string {
  return seededPrefix + number.toString(16).padStart(12, '0')
}

/** The same as an SQL expression. */
export function seededIdSql(number: string): string {
  return `'${seededPrefix}' || lpad(to_hex(${number}), 12, '0')`
}
