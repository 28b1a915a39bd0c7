import pg from 'pg'

const { INT8, NUMERIC, DATE, TIMESTAMPTZ } = pg.types.builtins

function exactInteger(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw new RangeError(`PostgreSQL returned ${text}, which is not a safe integer`)
}

const parseTime = pg.types.getTypeParser(TIMESTAMPTZ)

/** RFC 3339 with milliseconds. */
function timeOf(text: string): string {
  const time: Date = parseTime(text)
  return time.toISOString()
}

/**
 * How values arrive: bigint and numeric as exact integers (a sum beyond the safe integers is an error, never
 * rounded), times as RFC 3339, dates as written.
 */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser(type: number, format?: 'text' | 'binary') {
    if (type === INT8 || type === NUMERIC) return exactInteger
    if (type === TIMESTAMPTZ) return timeOf
    if (type === DATE) return String
    return format === 'binary' ? pg.types.getTypeParser(type, 'binary') : pg.types.getTypeParser(type, 'text')
  },
}
