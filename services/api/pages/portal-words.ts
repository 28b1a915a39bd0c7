import { isolating } from '../../../packages/contract/locale/direction.ts'
import type { Language } from './words.ts'

/** What the page of a portal says beyond those of checkout and invoices. */
export interface PortalWords {
  readonly title: (merchant: string) => string
  readonly due: string
  readonly nothingDue: string
  readonly subscriptions: string
  readonly noSubscriptions: string
  readonly subscription: string
  readonly settled: string
  readonly payments: string
  readonly noPayments: string
  readonly payment: string
  readonly each: Readonly<Record<'day' | 'week' | 'month' | 'quarter' | 'year', (amount: string) => string>>
  readonly trial: (day: string) => string
  readonly begins: (day: string) => string
  readonly beginsAndEnds: (first: string, last: string) => string
  readonly renews: (day: string) => string
  readonly ends: (day: string) => string
  readonly late: string
  readonly paused: string
  readonly over: string
  readonly cancel: string
  readonly cancelLead: (day: string) => string
  readonly cancelNow: string
  readonly open: string
  readonly wallet: string
  readonly balance: string
  readonly nothingInWallet: string
  readonly payByWallet: (amount: string) => string
  readonly walletEmpty: string
  readonly walletFailed: string
  readonly topup: string
  readonly topupNow: string
  readonly topupFailed: string
  readonly topupTitle: (merchant: string) => string
  readonly intoWallet: string
  readonly cardLater: string
  readonly bookingTitle: string
  readonly bookingLead: (amount: string) => string
  readonly toppedUp: (amount: string, merchant: string) => string
  readonly toPortal: string
  readonly refunded: string
  readonly closedTitle: string
  readonly closedLead: string
  readonly cancelFailed: string
}

const texts: Readonly<Record<Language, PortalWords>> = {
  en: {
    title: (merchant) => `Your account with ${merchant}`,
    due: 'To pay',
    nothingDue: 'There is nothing to pay.',
    subscriptions: 'Subscriptions',
    noSubscriptions: 'You have no subscription.',
    subscription: 'Subscription',
    settled: 'Paid invoices',
    payments: 'Payments',
    noPayments: 'You have not paid anything yet.',
    payment: 'Payment',
    each: {
      day: (amount) => `${amount} a day`,
      week: (amount) => `${amount} a week`,
      month: (amount) => `${amount} a month`,
      quarter: (amount) => `${amount} every three months`,
      year: (amount) => `${amount} a year`,
    },
    trial: (day) => `Free until ${day}`,
    begins: (day) => `Begins on ${day}`,
    beginsAndEnds: (first, last) => `Begins on ${first}, ends on ${last}, and is not renewed`,
    renews: (day) => `Renews on ${day}`,
    ends: (day) => `Ends on ${day}, and is not renewed`,
    late: 'A payment is late',
    paused: 'Paused, because a payment is missing',
    over: 'Ended',
    cancel: 'Cancel…',
    cancelLead: (day) => `It goes on until ${day}, then it ends. What is open until then stays to be paid.`,
    cancelNow: 'Cancel the subscription',
    open: 'See the invoice',
    wallet: 'Wallet',
    balance: 'Balance',
    nothingInWallet: 'There is nothing in it yet.',
    payByWallet: (amount) => `Pay ${amount} from the wallet`,
    walletEmpty: 'There is nothing in your wallet that can be spent now. Nothing was paid.',
    walletFailed: 'This could not be paid from the wallet now. See below how the invoice stands.',
    topup: 'Put money in…',
    topupNow: 'Continue',
    topupFailed: 'No money was put in.',
    topupTitle: (merchant) => `Your wallet with ${merchant}`,
    intoWallet: 'Into your wallet',
    cardLater: 'What you put in by card can be spent after two days.',
    bookingTitle: 'Paid, being booked',
    bookingLead: (amount) =>
      `Your payment of ${amount} has arrived. This page says when it is in the wallet.`,
    toppedUp: (amount, merchant) => `${amount} is in your wallet with ${merchant}.`,
    toPortal: 'Back to your account',
    refunded: 'paid back',
    closedTitle: 'This page has expired',
    closedLead: 'For your safety it is open for an hour. Open it again from the merchant’s site.',
    cancelFailed: 'The subscription could not be canceled. Please try again, or ask the merchant.',
  },
  fr: {
    title: (merchant) => `Votre compte chez ${merchant}`,
    due: 'À payer',
    nothingDue: 'Vous n’avez rien à payer.',
    subscriptions: 'Abonnements',
    noSubscriptions: 'Vous n’avez aucun abonnement.',
    subscription: 'Abonnement',
    settled: 'Factures payées',
    payments: 'Paiements',
    noPayments: 'Vous n’avez encore rien payé.',
    payment: 'Paiement',
    each: {
      day: (amount) => `${amount} par jour`,
      week: (amount) => `${amount} par semaine`,
      month: (amount) => `${amount} par mois`,
      quarter: (amount) => `${amount} par trimestre`,
      year: (amount) => `${amount} par an`,
    },
    trial: (day) => `Gratuit jusqu’au ${day}`,
    begins: (day) => `Commence le ${day}`,
    beginsAndEnds: (first, last) => `Commence le ${first}, se termine le ${last}, sans renouvellement`,
    renews: (day) => `Se renouvelle le ${day}`,
    ends: (day) => `Se termine le ${day}, sans renouvellement`,
    late: 'Un paiement est en retard',
    paused: 'En pause, car un paiement manque',
    over: 'Terminé',
    cancel: 'Résilier…',
    cancelLead: (day) =>
      `Il continue jusqu’au ${day}, puis il se termine. Ce qui est ouvert d’ici là reste à payer.`,
    cancelNow: 'Résilier l’abonnement',
    open: 'Voir la facture',
    wallet: 'Portefeuille',
    balance: 'Solde',
    nothingInWallet: 'Il est encore vide.',
    payByWallet: (amount) => `Payer ${amount} avec le portefeuille`,
    walletEmpty: 'Rien dans votre portefeuille n’est utilisable en ce moment. Rien n’a été payé.',
    walletFailed: 'Le portefeuille n’a pas pu payer maintenant. Voyez ci-dessous où en est la facture.',
    topup: 'Ajouter de l’argent…',
    topupNow: 'Continuer',
    topupFailed: 'Rien n’a été ajouté.',
    topupTitle: (merchant) => `Votre portefeuille chez ${merchant}`,
    intoWallet: 'Dans votre portefeuille',
    cardLater: 'L’argent ajouté par carte est utilisable après deux jours.',
    bookingTitle: 'Payé, en cours d’enregistrement',
    bookingLead: (amount) =>
      `Votre paiement de ${amount} est arrivé. Cette page dira quand il est dans le portefeuille.`,
    toppedUp: (amount, merchant) => `${amount} sont dans votre portefeuille chez ${merchant}.`,
    toPortal: 'Retour à votre compte',
    refunded: 'remboursé',
    closedTitle: 'Cette page a expiré',
    closedLead:
      'Par sécurité, elle reste ouverte une heure. Ouvrez-la de nouveau depuis le site du marchand.',
    cancelFailed: 'L’abonnement n’a pas pu être résilié. Réessayez, ou demandez au marchand.',
  },
}

export const portalWords: Readonly<Record<Language, PortalWords>> = {
  en: isolating(texts.en),
  fr: isolating(texts.fr),
}
