import { isolating } from '../../../packages/contract/locale/direction.ts'
import type { Language } from './words.ts'

/** What the pages about invoices say beyond those of checkout. */
export interface InvoiceWords {
  readonly invoice: string
  readonly titled: (number: string, merchant: string) => string
  readonly number: string
  readonly from: string
  readonly issued: string
  readonly due: string
  readonly overdue: (day: string) => string
  readonly dueOn: (day: string) => string
  readonly for: string
  readonly line: string
  readonly quantity: string
  readonly total: string
  readonly alreadyPaid: string
  readonly left: string
  readonly save: string
  readonly outside: string
  readonly otherCountry: string
  readonly paidTitle: string
  readonly paidLead: (amount: string, merchant: string) => string
  readonly voidTitle: string
  readonly voidLead: string
  readonly nothingLead: string
}

const texts: Readonly<Record<Language, InvoiceWords>> = {
  en: {
    invoice: 'Invoice',
    titled: (number, merchant) => `Invoice ${number} of ${merchant}`,
    number: 'Number',
    from: 'From',
    issued: 'Date',
    due: 'Due',
    overdue: (day) => `It was due on ${day}.`,
    dueOn: (day) => `It is due on ${day}.`,
    for: 'For',
    line: 'What',
    quantity: 'Quantity',
    total: 'Total',
    alreadyPaid: 'Already paid',
    left: 'Left to pay',
    save: 'Save the invoice (PDF)',
    outside: 'Directly to the merchant',
    otherCountry: 'Is your number from another country?',
    paidTitle: 'Paid, thank you',
    paidLead: (amount, merchant) => `${merchant} has received ${amount}.`,
    voidTitle: 'Nothing is to be paid',
    voidLead: 'The merchant has withdrawn this invoice.',
    nothingLead: 'Nothing was to be paid on this invoice.',
  },
  fr: {
    invoice: 'Facture',
    titled: (number, merchant) => `Facture ${number} de ${merchant}`,
    number: 'Numéro',
    from: 'De',
    issued: 'Date',
    due: 'À payer le',
    overdue: (day) => `Elle était à payer le ${day}.`,
    dueOn: (day) => `Elle est à payer le ${day}.`,
    for: 'Pour',
    line: 'Objet',
    quantity: 'Quantité',
    total: 'Total',
    alreadyPaid: 'Déjà payé',
    left: 'Reste à payer',
    save: 'Enregistrer la facture (PDF)',
    outside: 'Directement au marchand',
    otherCountry: 'Votre numéro est d’un autre pays ?',
    paidTitle: 'Payé, merci',
    paidLead: (amount, merchant) => `${merchant} a reçu ${amount}.`,
    voidTitle: 'Rien n’est à payer',
    voidLead: 'Le marchand a retiré cette facture.',
    nothingLead: 'Il n’y avait rien à payer sur cette facture.',
  },
}

export const invoiceWords: Readonly<Record<Language, InvoiceWords>> = {
  en: isolating(texts.en),
  fr: isolating(texts.fr),
}
