import { currencyExponent } from '../../../packages/contract/locale/currencies.ts'
import { decimalAmount } from '../../../packages/contract/locale/money-text.ts'
import { html, type Html } from '../docs/html.ts'
import type { Language } from './words.ts'

const locales: Readonly<Record<Language, string>> = { fr: 'fr-FR', en: 'en-GB' }

/** As people write it: `5 000 F CFA`, `5,000 F CFA`, `€12.50`. */
export function money(amountMinor: number, currency: string, language: Language): string {
  const exponent = currencyExponent(currency) ?? 0
  const format = new Intl.NumberFormat(locales[language], {
    style: 'currency',
    currency,
    minimumFractionDigits: exponent,
    maximumFractionDigits: exponent,
  })
  const amount = decimalAmount(amountMinor, currency)
  const parts = format.formatToParts(amount)
  const sign = parts.find(({ type }) => type === 'currency')!.value
  // Names of currencies stand behind the amount, also where signs stand before it.
  const number = parts.filter(({ type }) => type !== 'currency' && type !== 'literal')
  if (/^[\p{L}\s]+$/u.test(sign)) return `${number.map(({ value }) => value).join('')}\u00a0${readable(sign)}`
  return format.format(amount)
}

/** `F CFA` */
export function signOf(currency: string): string {
  const parts = new Intl.NumberFormat(locales.fr, { style: 'currency', currency }).formatToParts(0)
  return readable(parts.find(({ type }) => type === 'currency')!.value)
}

/** Many fonts draw a narrow space so thin that `F CFA` looks like one word. */
function readable(sign: string): string {
  return sign.replaceAll('\u202f', '\u00a0')
}

/** `{} F CFA`: how an amount is written, whose number is not known yet. */
export function moneyPattern(currency: string, language: Language): string {
  return money(0, currency, language).replace(/0(?:[.,]0+)?/, '{}')
}

const sums = /([\p{Sc}\p{L}]{0,4}\d{1,3}(?:[\u202f,]\d{3})*(?:[.,]\d+)?(?:\u00a0[\p{Sc}\p{L}]+)*)/u
const gaps = /(?<=\d[\u202f,])(?=\d{3})|(?<=\d\u00a0)/

/**
 * A text whose amounts stay on one line each. One that is wider than the page ends its lines between groups
 * of digits, and before the currency.
 */
export function unbroken(text: string): Html {
  const parts = text.split(sums).map((part, at) => {
    const [first, ...rest] = at % 2 === 1 ? part.split(gaps) : [part]
    if (rest.length === 0) return html`${part}`
    return html`<span class="amount">${first}${rest.map((each) => html`<wbr />${each}`)}</span>`
  })
  return html`${parts}`
}

/** `31 janvier 2026 à 12:30`, in UTC, which is the time in most of the countries we serve. */
export function time(at: string, language: Language): string {
  const format = new Intl.DateTimeFormat(locales[language], {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  return `${format.format(new Date(at))} UTC`
}
