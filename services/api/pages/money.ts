import { currencyExponent } from '../../../packages/contract/locale/currencies.ts'
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
  const parts = format.formatToParts(amountMinor / 10 ** exponent)
  const sign = parts.find(({ type }) => type === 'currency')!.value
  // Names of currencies stand behind the amount, also where signs stand before it.
  if (!/\p{L}/u.test(sign) || language === 'fr') return format.format(amountMinor / 10 ** exponent)
  const number = parts.filter(({ type }) => type !== 'currency' && type !== 'literal')
  return `${number.map(({ value }) => value).join('')}\u00a0${sign}`
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
