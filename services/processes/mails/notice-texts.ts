import type { Language } from '../../../packages/domain/users/events.ts'
import type { Noticed } from '../../../packages/domain/users/notices.ts'

type Texts = Readonly<Record<Language, readonly [subject: string, why: string]>>

/** What a user is told of, whoever has done it. */
export const noticeTexts: Readonly<Record<Noticed, Texts>> = {
  UserPasswordChanged: {
    fr: ['Mot de passe changé', 'Le mot de passe de votre compte vient de changer.'],
    en: ['Password changed', 'The password of your account has just changed.'],
  },
  UserPasswordRemoved: {
    fr: [
      'Mot de passe retiré',
      'Votre adresse a été confirmée par quelqu’un qui n’était pas connecté : le mot de passe qui avait été choisi n’ouvre plus votre compte. Un lien pour en choisir un autre vous est envoyé.',
    ],
    en: [
      'Password removed',
      'Your address was confirmed by somebody who was not signed in: the password that had been chosen no longer opens your account. A link to choose another one is on its way.',
    ],
  },
  UserTakenOver: {
    fr: [
      'Compte repris',
      'Un lien envoyé à votre adresse a montré que le compte est à vous. Les clés d’API que ce compte avait émises auparavant ne sont plus valables.',
    ],
    en: [
      'Account taken over',
      'A link that was sent to your address has shown that the account is yours. API keys that this account had issued before are no longer good.',
    ],
  },
  UserTotpEnabled: {
    fr: ['Authentificateur ajouté', 'La connexion à votre compte demande désormais un code.'],
    en: ['Authenticator added', 'Signing in to your account now asks for a code.'],
  },
  UserTotpDisabled: {
    fr: ['Authentificateur retiré', 'La connexion à votre compte ne demande plus de code.'],
    en: ['Authenticator removed', 'Signing in to your account no longer asks for a code.'],
  },
  UserPasskeyRegistered: {
    fr: ['Clé d’accès ajoutée', 'Une nouvelle clé d’accès ouvre désormais votre compte.'],
    en: ['Passkey added', 'A new passkey now opens your account.'],
  },
  UserPasskeyRemoved: {
    fr: ['Clé d’accès retirée', 'Une clé d’accès n’ouvre plus votre compte.'],
    en: ['Passkey removed', 'A passkey no longer opens your account.'],
  },
  UserGoogleConnected: {
    fr: ['Compte Google associé', 'Un compte Google ouvre désormais votre compte.'],
    en: ['Google account connected', 'A Google account now opens your account.'],
  },
  UserGoogleDisconnected: {
    fr: ['Compte Google dissocié', 'Aucun compte Google n’ouvre plus votre compte.'],
    en: ['Google account disconnected', 'No Google account opens your account any more.'],
  },
}

export const severalSubjects: Readonly<Record<Language, string>> = {
  fr: 'Plusieurs changements de votre compte',
  en: 'Several changes to your account',
}

/** Where nothing was added that a link could remove. */
export const otherwiseTexts: Readonly<Record<Language, string>> = {
  fr: 'Si ce n’est pas vous, choisissez tout de suite un nouveau mot de passe et écrivez-nous.',
  en: 'If this was not you, choose a new password at once and write to us.',
}

export const undoTexts: Readonly<Record<Language, { readonly action: string; readonly lasts: string }>> = {
  fr: {
    action: 'Ce n’est pas moi : tout retirer',
    lasts:
      'Ce lien retire ce qui vient d’être ajouté et tout ce qui l’a été depuis, et ferme vos sessions. Il est valable sept jours.',
  },
  en: {
    action: 'This was not me: remove it',
    lasts:
      'This link removes what was just added and all that was added since, and ends your sessions. It works for seven days.',
  },
}
