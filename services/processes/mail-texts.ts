import type { Language } from '../../packages/domain/users/events.ts'
import type { LinkPurpose } from '../../packages/domain/users/links.ts'
import type { Mail } from '../../packages/kernel/ports.ts'

interface Text {
  readonly subject: string
  readonly why: string
  /** On the button. */
  readonly action: string
  readonly lasts: string
  readonly otherwise: string
}

/** Every mail with a link, by purpose and language. */
const texts: Readonly<Record<LinkPurpose, Readonly<Record<Language, Text>>>> = {
  verify_email: {
    fr: {
      subject: 'Confirmez votre adresse e-mail',
      why: 'Vous venez de créer un compte. Confirmez que cette adresse est la vôtre.',
      action: 'Confirmer mon adresse',
      lasts: 'Ce lien est valable 24 heures et ne sert qu’une fois.',
      otherwise: 'Si ce n’est pas vous, ignorez ce message.',
    },
    en: {
      subject: 'Confirm your e-mail address',
      why: 'You have just created an account. Please confirm that this address is yours.',
      action: 'Confirm my address',
      lasts: 'This link works for 24 hours, and once.',
      otherwise: 'If this was not you, ignore this message.',
    },
  },
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

const greetings: Readonly<Record<Language, (name: string) => string>> = {
  fr: (name) => `Bonjour ${name},`,
  en: (name) => `Hello ${name},`,
}

interface Addressed {
  readonly name: string
  readonly language: Language
  readonly url: string
}

/** One mail, as text and as HTML. */
export function linkMail(purpose: LinkPurpose, { name, language, url }: Addressed): Omit<Mail, 'to'> {
  const { subject, why, action, lasts, otherwise } = texts[purpose][language]
  const greeting = greetings[language](name)
  const text = [greeting, '', why, '', `${action}:`, url, '', lasts, otherwise].join('\n')
  const paragraphs = [greeting, why].map(paragraph)
  const button = `<p><a href="${escaped(url)}">${escaped(action)}</a></p>`
  const html = [
    `<!doctype html><html lang="${language}"><body>`,
    ...paragraphs,
    button,
    ...[lasts, otherwise].map(paragraph),
    '</body></html>',
  ]
  return { subject, text, html: html.join('\n') }
}

function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
