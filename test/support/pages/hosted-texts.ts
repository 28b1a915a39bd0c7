/** What a payer looks for on hosted pages. */
export interface HostedTexts {
  readonly pay: RegExp
  readonly payOne: RegExp
  readonly prompt: string
  readonly play: string
  readonly paid: string
  readonly done: string
  readonly approve: string
  readonly decided: string
  readonly cancel: string
  readonly cancelNow: string
  readonly ends: RegExp
  readonly notPaid: string
  readonly again: string
  readonly giveUp: string
  readonly canceled: string
  readonly expired: string
}

export const hostedTexts: Readonly<Record<'fr' | 'en', HostedTexts>> = {
  fr: {
    pay: /^Payer(?: [\d\s]+F\sCFA(?: \+ frais)?)?$/,
    payOne: /^Payer [\d\s]+F\sCFA/,
    prompt: 'Confirmez sur votre téléphone',
    play: 'Jouer le payeur',
    paid: 'Payé, merci',
    done: 'Fait',
    approve: 'Approuver le paiement',
    decided: 'Ce paiement est déjà décidé.',
    cancel: 'Résilier…',
    cancelNow: 'Résilier l’abonnement',
    ends: /Se termine le \d+ .*, sans renouvellement/,
    notPaid: 'Rien n’a été payé.',
    again: 'Réessayer',
    giveUp: 'Annuler et revenir',
    canceled: 'Paiement annulé',
    expired: 'Cette page a expiré',
  },
  en: {
    pay: /^Pay(?: [\d,]+\sF\sCFA(?: \+ fee)?)?$/,
    payOne: /^Pay [\d,]+\sF\sCFA/,
    prompt: 'Confirm on your phone',
    play: 'Play the payer',
    paid: 'Paid, thank you',
    done: 'Done',
    approve: 'Approve the payment',
    decided: 'This payment is decided already.',
    cancel: 'Cancel…',
    cancelNow: 'Cancel the subscription',
    ends: /Ends on \d+ .*, and is not renewed/,
    notPaid: 'Nothing was paid.',
    again: 'Try again',
    giveUp: 'Cancel and go back',
    canceled: 'Payment canceled',
    expired: 'This page has expired',
  },
}
