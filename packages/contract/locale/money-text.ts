import { currencyExponent } from './currencies.ts'
import { amountMinorMax } from '../vocabulary.ts'

/** `1,200`: in minor units, as everywhere in the API. */
export function spelledAmount(amountMinor: number): string {
  return amountMinor.toLocaleString('en-US')
}

/** 12345 USD is `123.45`: without arithmetic, which loses cents of sums that are countable. */
export function decimalAmount(amountMinor: number, currency: string): `${number}` {
  const digits = currencyExponent(currency) ?? 0
  const text = String(Math.abs(amountMinor)).padStart(digits + 1, '0')
  const whole = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
  return `${amountMinor < 0 ? '-' : ''}${whole}` as `${number}`
}

/**
 * By thousands, each time with the same mark, and decimals after the other one: `0,500` is not five hundred,
 * and `1.234,567` no amount.
 */
const grouped = /^[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d{1,2})?$/

/** `2 500`, `2.500`, `12,50` and `1,200.50` in the smallest unit; `undefined` for what is no such amount. */
export function minorAmount(text: string, currency: string): number | undefined {
  const exponent = currencyExponent(currency) ?? 0
  const plain = text.replace(/[\s\u00a0\u202f'’]/g, '')
  const [, mark] = grouped.exec(plain) ?? []
  const digits = mark === undefined ? plain : plain.replaceAll(mark, '')
  const [, whole, fraction = ''] = /^(\d{1,15})(?:[.,](\d+))?$/.exec(digits) ?? []
  const isCut = fraction.length > exponent && !/^00?$/.test(fraction)
  if (whole === undefined || isCut) return undefined
  const minor = Number(whole + fraction.slice(0, exponent).padEnd(exponent, '0'))
  return minor >= 1 && minor <= amountMinorMax ? minor : undefined
}
