import { quoted } from './quoting.ts'

/** How a file writes what stands behind the comma. `auto`: told by each number itself, where it can be. */
export type DecimalMark = 'auto' | ',' | '.'

/** The text is no amount, or could be two; the message says why. */
export class AmountError extends Error {
  override readonly name = 'AmountError'
}

const spaces = /[\s\u00a0\u202f']/g

/**
 * An amount in minor units, without a float between: `1 234,50`, `-1,234.5`, `(12.00)`, `+5000`. `digits` is
 * how many minor digits the currency has.
 */
export function minorUnits(text: string, digits: number, mark: DecimalMark = 'auto'): number {
  const plain = text
    .trim()
    .replaceAll(spaces, '')
    .replace(/^\((.*)\)$/, '-$1')
  const [, sign, number] = /^([+-]?)(\d[\d.,]*)$/.exec(plain.replace(/^(.*[^-+])-$/, '-$1')) ?? []
  if (number === undefined) throw new AmountError(`${quoted(text)} is no amount`)
  const [whole, fraction] = parted(number, { digits, mark, text })
  if (/[1-9]/.test(fraction.slice(digits)))
    throw new AmountError(`${quoted(text)} has more than ${digits} decimals`)
  const amount = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  if (!Number.isSafeInteger(amount)) throw new AmountError(`${quoted(text)} is too large`)
  return sign === '-' ? 0 - amount : amount
}

interface Reading {
  readonly digits: number
  readonly mark: DecimalMark
  readonly text: string
}

/** What stands before and behind the decimal mark, without separators. */
function parted(number: string, { digits, mark, text }: Reading): readonly [string, string] {
  const marks = [...number].filter((sign) => sign === ',' || sign === '.')
  const last = marks.at(-1)
  if (!last) return [number, '']
  const decimal = mark === 'auto' ? decimalOf(number, marks, { digits, mark, text }) : mark
  const at = decimal === undefined ? -1 : number.lastIndexOf(decimal)
  if (decimal !== undefined && number.indexOf(decimal) !== at)
    throw new AmountError(`${quoted(text)} has two decimal marks`)
  const [whole, fraction] = at < 0 ? [number, ''] : [number.slice(0, at), number.slice(at + 1)]
  const separated = /^\d{1,3}(([.,])\d{3}(\2\d{3})*)?$/.test(whole) || /^\d+$/.test(whole)
  if (!separated || !/^\d*$/.test(fraction)) throw new AmountError(`${quoted(text)} is no amount`)
  return [whole.replaceAll(/[.,]/g, ''), fraction]
}

/** Two kinds of marks: the last is the decimal one. One kind: what three digits follow may be either. */
function decimalOf(number: string, marks: readonly string[], { digits, text }: Reading): string | undefined {
  const last = marks.at(-1)!
  if (new Set(marks).size === 2) return last
  const behind = number.length - number.lastIndexOf(last) - 1
  if (marks.length > 1) return undefined
  if (behind !== 3) return last
  if (digits === 0) return undefined
  throw new AmountError(`${quoted(text)} can be read in two ways: say --decimal`)
}
