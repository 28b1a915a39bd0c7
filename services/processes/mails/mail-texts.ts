import { isolated } from '../../../packages/contract/locale/direction.ts'
import type { Language } from '../../../packages/domain/users/events.ts'
import type { LinkPurpose } from '../../../packages/domain/users/links.ts'
import type { Mail } from '../../../packages/kernel/ports.ts'

export interface MailText {
  readonly subject: string
  readonly why: string
  /** On the button. */
  readonly action: string
  readonly lasts: string
  readonly otherwise: string
}

const signInText: Readonly<Record<Language, MailText>> = {
  fr: {
    subject: 'Votre lien de connexion',
    why: 'Vous avez demandé un lien pour vous connecter sans mot de passe.',
    action: 'Me connecter',
    lasts: 'Ce lien est valable un quart d’heure et ne sert qu’une fois.',
    otherwise: 'Si ce n’est pas vous, ignorez ce message.',
  },
  en: {
    subject: 'Your sign-in link',
    why: 'You have asked for a link to sign in without a password.',
    action: 'Sign in',
    lasts: 'This link works for a quarter of an hour, and once.',
    otherwise: 'If this was not you, ignore this message.',
  },
}

const newAddressText: Readonly<Record<Language, MailText>> = {
  fr: {
    subject: 'Confirmez votre nouvelle adresse e-mail',
    why: 'Vous avez demandé à utiliser cette adresse pour vous connecter.',
    action: 'Utiliser cette adresse',
    lasts: 'Ce lien est valable 24 heures et ne sert qu’une fois, là où vous êtes connecté.',
    otherwise: 'Si ce n’est pas vous, ignorez ce message : rien ne change.',
  },
  en: {
    subject: 'Confirm your new e-mail address',
    why: 'You have asked to sign in with this address.',
    action: 'Use this address',
    lasts: 'This link works for 24 hours, and once, where you are signed in.',
    otherwise: 'If this was not you, ignore this message: nothing changes.',
  },
}

/** Every mail with a link, by purpose and language. */
const texts: Readonly<Record<LinkPurpose | 'email_change', Readonly<Record<Language, MailText>>>> = {
  verify_email: {
    fr: {
      subject: 'Confirmez votre adresse e-mail',
      why: 'Vous venez de créer un compte. Confirmez que cette adresse est la vôtre.',
      action: 'Confirmer mon adresse',
      lasts:
        'Ce lien est valable 24 heures et ne sert qu’une fois. Ouvrez-le là où vous êtes connecté ; ailleurs, vous choisirez un nouveau mot de passe.',
      otherwise: 'Si ce n’est pas vous, ignorez ce message.',
    },
    en: {
      subject: 'Confirm your e-mail address',
      why: 'You have just created an account. Please confirm that this address is yours.',
      action: 'Confirm my address',
      lasts:
        'This link works for 24 hours, and once. Open it where you are signed in; elsewhere you will choose a new password.',
      otherwise: 'If this was not you, ignore this message.',
    },
  },
  magic_link: signInText,
  email_change: newAddressText,
  reset_password: {
    fr: {
      subject: 'Choisissez un nouveau mot de passe',
      why: 'Quelqu’un, sans doute vous, a demandé un nouveau mot de passe pour votre compte.',
      action: 'Choisir un mot de passe',
      lasts: 'Ce lien est valable une heure et ne sert qu’une fois.',
      otherwise: 'Si ce n’est pas vous, ignorez ce message : votre mot de passe reste le même.',
    },
    en: {
      subject: 'Choose a new password',
      why: 'Somebody, probably you, has asked for a new password for your account.',
      action: 'Choose a password',
      lasts: 'This link works for one hour, and once.',
      otherwise: 'If this was not you, ignore this message: your password stays as it is.',
    },
  },
}

/** To the address that a user has left. */
const leftTexts: Readonly<Record<Language, readonly [subject: string, text: string]>> = {
  fr: [
    'Votre adresse e-mail a changé',
    'Votre compte s’ouvre désormais avec une autre adresse. Si ce n’est pas vous, écrivez-nous tout de suite.',
  ],
  en: [
    'Your e-mail address has changed',
    'Your account now opens with another address. If this was not you, write to us at once.',
  ],
}

/** Somebody has shown a refresh token that was spent. */
const reuseTexts: Readonly<Record<Language, readonly [subject: string, text: string]>> = {
  fr: [
    'Une de vos sessions a été fermée',
    'Elle a été ouverte à deux endroits, ce qui peut être le fait d’un voleur. Reconnectez-vous, et changez votre mot de passe si vous ne savez pas pourquoi.',
  ],
  en: [
    'One of your sessions was ended',
    'It was in use in two places, which may be the work of a thief. Sign in again, and change your password unless you know why.',
  ],
}

type Named = Pick<Addressed, 'name' | 'language'>

export function leftAddressMail({ name, language }: Named): Omit<Mail, 'to'> {
  return plain({ name, language }, leftTexts[language])
}

export function reuseMail({ name, language }: Named): Omit<Mail, 'to'> {
  return plain({ name, language }, reuseTexts[language])
}

/** One that leads nowhere. */
export function plain(
  { name, language }: Named,
  [subject, ...why]: readonly [subject: string, ...text: string[]],
): Omit<Mail, 'to'> {
  const lines = [greetings[language](name), ...why]
  return { subject, text: lines.join('\n\n'), html: htmlOf(language, lines.map(paragraph)) }
}

/** The code stands in the subject too, where a phone shows it. */
const codeTexts: Readonly<Record<Language, (code: string) => readonly string[]>> = {
  fr: (code) => [
    `${code} est votre code`,
    'Il est valable dix minutes et ne sert qu’une fois. Ne le donnez à personne : nous ne le demandons jamais.',
  ],
  en: (code) => [
    `${code} is your code`,
    'It works for ten minutes, and once. Give it to nobody: we never ask for it.',
  ],
}

export function codeMail(language: Language, code: string): Omit<Mail, 'to'> {
  const [subject, ...lines] = codeTexts[language](code)
  const paragraphs = [`${subject}.`, ...lines]
  const html = htmlOf(language, paragraphs.map(paragraph))
  return { subject: subject!, text: paragraphs.join('\n\n'), html }
}

/** Without letters that would make it two messages. */
const shortTexts: Readonly<Record<Language, (code: string) => string>> = {
  fr: (code) => `${code} est votre code, valable dix minutes. Ne le donnez à personne.`,
  en: (code) => `${code} is your code, good for ten minutes. Give it to nobody.`,
}

export function codeText(language: Language, code: string): string {
  return shortTexts[language](code)
}

export const greetings: Readonly<Record<Language, (name: string | null) => string>> = {
  fr: (name) => (name === null ? 'Bonjour,' : `Bonjour ${asName(name)},`),
  en: (name) => (name === null ? 'Hello,' : `Hello ${asName(name)},`),
}

interface Addressed {
  /** Left out where the address is not shown to be this person's. */
  readonly name: string | null
  readonly language: Language
  readonly url: string
}

/** One mail, as text and as HTML. */
export function linkMail(
  purpose: LinkPurpose | 'email_change',
  { name, language, url }: Addressed,
): Omit<Mail, 'to'> {
  return framed(texts[purpose][language], { greeting: greetings[language](name), language, url })
}

interface MailFrame {
  readonly greeting: string
  readonly language: Language
  readonly url: string
}

export function framed(text: MailText, { greeting, language, url }: MailFrame): Omit<Mail, 'to'> {
  const { subject, why, action, lasts, otherwise } = text
  const plain = [greeting, '', why, '', `${action}:`, url, '', lasts, otherwise].join('\n')
  const paragraphs = [greeting, ...why.split('\n')].map(paragraph)
  const button = `<p><a href="${escaped(url)}">${escaped(action)}</a></p>`
  const html = htmlOf(language, [...paragraphs, button, ...[lasts, otherwise].map(paragraph)])
  return { subject, text: plain, html }
}

function htmlOf(language: Language, parts: readonly string[]): string {
  return [`<!doctype html><html lang="${language}"><body>`, ...parts, '</body></html>'].join('\n')
}

function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`
}

const controls = /[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu
const joints = /(?<=[\p{L}\p{N}])[.:@](?=[\p{L}\p{N}/])/gu

/**
 * A name on one line that leaves the sentence around it in its order, and of which mail programs make no
 * link: whoever chose it may write to strangers.
 */
export function asName(text: string): string {
  return isolated(text.replaceAll(controls, ' ').replaceAll(joints, '$&\u2060'))
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
