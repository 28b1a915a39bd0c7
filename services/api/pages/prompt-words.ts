import type { OperatorCode } from '../../../packages/contract/payments/catalog.ts'
import type { Language } from './words.ts'

/** What an operator's customers do to approve a payment, in the names that it uses itself. */
export interface PromptWords {
  readonly steps: readonly string[]
  /** Where the request is found when no message has come up. */
  readonly elsewhere: string
  /** Where it leads the payer on itself. Left out: it does not. */
  readonly goOn?: string
}

// Inferred: no menu codes. The specification names none, they differ by country, and a payer who dials a
// wrong one loses the payment.

type Prompts = Readonly<Record<OperatorCode, PromptWords>>

const english: Prompts = {
  orange_money: {
    steps: [
      'Answer the Orange Money request that appears on that phone.',
      'Check the amount and the name of the merchant.',
      'Approve with your Orange Money secret code. We never ask for it.',
    ],
    elsewhere: 'Open the Orange Money menu or the Max it app, and look for payments to approve.',
  },
  mtn: {
    steps: [
      'Answer the MoMo request that appears on that phone.',
      'Check the amount and the name of the merchant.',
      'Approve with your MoMo PIN. We never ask for it.',
    ],
    elsewhere: 'Open the MoMo menu or the MoMo app, and look under “Approvals”.',
  },
  moov: {
    steps: [
      'Answer the Moov Money request that appears on that phone.',
      'Check the amount and the name of the merchant.',
      'Approve with your Moov Money secret code. We never ask for it.',
    ],
    elsewhere: 'Open the Moov Money menu or the Moov Money app, and look for payments to approve.',
  },
  wave: {
    steps: [
      'Open the Wave app on that phone, or tap its notification.',
      'Check the amount and the name of the merchant.',
      'Confirm with your Wave PIN. We never ask for it.',
    ],
    elsewhere: 'Open the Wave app and refresh its first screen: the payment to confirm is there.',
    goOn: 'The payment goes on in Wave: confirm it there with your Wave PIN. Afterwards you come back here.',
  },
  free_money: {
    steps: [
      'Answer the Free Money request that appears on that phone.',
      'Check the amount and the name of the merchant.',
      'Approve with your Free Money secret code. We never ask for it.',
    ],
    elsewhere: 'Open the Free Money menu, and look for payments to approve.',
  },
}

const french: Prompts = {
  orange_money: {
    steps: [
      'Répondez à la demande Orange Money qui s’affiche sur ce téléphone.',
      'Vérifiez le montant et le nom du marchand.',
      'Approuvez avec votre code secret Orange Money. Nous ne le demandons jamais.',
    ],
    elsewhere: 'Ouvrez le menu Orange Money ou l’application Max it, et cherchez les paiements à approuver.',
  },
  mtn: {
    steps: [
      'Répondez à la demande MoMo qui s’affiche sur ce téléphone.',
      'Vérifiez le montant et le nom du marchand.',
      'Approuvez avec votre code PIN MoMo. Nous ne le demandons jamais.',
    ],
    elsewhere: 'Ouvrez le menu MoMo ou l’application MoMo, et cherchez sous « Approbations ».',
  },
  moov: {
    steps: [
      'Répondez à la demande Moov Money qui s’affiche sur ce téléphone.',
      'Vérifiez le montant et le nom du marchand.',
      'Approuvez avec votre code secret Moov Money. Nous ne le demandons jamais.',
    ],
    elsewhere:
      'Ouvrez le menu Moov Money ou l’application Moov Money, et cherchez les paiements à approuver.',
  },
  wave: {
    steps: [
      'Ouvrez l’application Wave sur ce téléphone, ou touchez sa notification.',
      'Vérifiez le montant et le nom du marchand.',
      'Confirmez avec votre code secret Wave. Nous ne le demandons jamais.',
    ],
    elsewhere: 'Ouvrez l’application Wave et actualisez l’accueil : le paiement à confirmer s’y trouve.',
    goOn:
      'Le paiement continue dans Wave : confirmez-le avec votre code secret Wave. Vous reviendrez ensuite ' +
      'ici.',
  },
  free_money: {
    steps: [
      'Répondez à la demande Free Money qui s’affiche sur ce téléphone.',
      'Vérifiez le montant et le nom du marchand.',
      'Approuvez avec votre code secret Free Money. Nous ne le demandons jamais.',
    ],
    elsewhere: 'Ouvrez le menu Free Money, et cherchez les paiements à approuver.',
  },
}

const prompts: Readonly<Record<Language, Prompts>> = { en: english, fr: french }

/** `undefined` for an operator that is no longer in the catalog. */
export function promptWordsOf(operator: string, language: Language): PromptWords | undefined {
  const words = prompts[language]
  return Object.hasOwn(words, operator) ? words[operator as OperatorCode] : undefined
}
