import { currencyExponent } from '../../../packages/contract/locale/currencies.ts'
import type { Language } from '../../../packages/contract/locale/languages.ts'
import { decimalAmount } from '../../../packages/contract/locale/money-text.ts'
import type { Mail } from '../../../packages/kernel/ports.ts'
import { asName, escaped } from './mail-texts.ts'

interface Overdue {
  /** The merchant's. */
  readonly name: string
  readonly number: string | null
  readonly amount: number
  readonly currency: string
  readonly dueDate: string
  /** The page on which it can be paid. */
  readonly url: string
  readonly livemode: boolean
}

interface Said {
  readonly invoice: string
  readonly amount: string
  readonly day: string
  readonly merchant: string
}

interface Text {
  readonly locale: string
  readonly test: string
  readonly invoice: string
  readonly subject: (said: Said) => string
  readonly lines: (said: Said) => readonly string[]
  readonly action: (said: Said) => string
  readonly otherwise: string
}

const texts: Readonly<Record<Language, Text>> = {
  fr: {
    locale: 'fr-FR',
    test: 'Test',
    invoice: 'facture',
    subject: ({ merchant, amount }) => `Rappel : ${amount} à payer à ${merchant}`,
    lines: ({ merchant, invoice, amount, day }) => [
      'Bonjour,',
      `Votre ${invoice} de ${merchant} était à payer le ${day}. Il reste ${amount} à payer.`,
    ],
    action: ({ amount }) => `Payer ${amount}`,
    otherwise: 'Si vous venez de payer, ignorez ce message. Merci !',
  },
  en: {
    locale: 'en-GB',
    test: 'Test',
    invoice: 'invoice',
    subject: ({ merchant, amount }) => `Reminder: ${amount} to pay to ${merchant}`,
    lines: ({ merchant, invoice, amount, day }) => [
      'Hello,',
      `Your ${invoice} from ${merchant} was due on ${day}. ${amount} is left to pay.`,
    ],
    action: ({ amount }) => `Pay ${amount}`,
    otherwise: 'If you have just paid, ignore this message. Thank you!',
  },
}

/** One mail with the way to pay, as text and as HTML. */
export function reminderMail(language: Language, overdue: Overdue): Omit<Mail, 'to'> {
  const { locale, test, invoice, subject, lines, action, otherwise } = texts[language]
  const { name, number, url, livemode } = overdue
  const said: Said = {
    merchant: asName(name),
    invoice: number === null ? invoice : `${invoice} ${number}`,
    amount: amountText(locale, overdue),
    day: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(
      new Date(overdue.dueDate),
    ),
  }
  const [told, pressed] = [lines(said), action(said)]
  const paragraph = (text: string) => `<p>${escaped(text)}</p>`
  const html = [
    `<!doctype html><html lang="${language}"><body>`,
    ...told.map(paragraph),
    `<p><a href="${escaped(url)}">${escaped(pressed)}</a></p>`,
    paragraph(otherwise),
    '</body></html>',
  ]
  return {
    subject: livemode ? subject(said) : `[${test}] ${subject(said)}`,
    text: [...told, '', `${pressed}:`, url, '', otherwise].join('\n'),
    html: html.join('\n'),
  }
}

/** `5 000 F CFA` */
function amountText(locale: string, { amount, currency }: Overdue): string {
  const digits = currencyExponent(currency) ?? 0
  const exact = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, ...exact })
  return format.format(decimalAmount(amount, currency))
}
