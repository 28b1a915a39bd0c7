import type { NamedExamples } from '../../contract/routes.ts'

const email = 'awa@example.com'
const password = 'quatre mots sans lien'
const token = 'eyJhbGciOiJFZERTQSJ9…'

export const signInExamples: NamedExamples = {
  password: { summary: 'Sign in', value: { email, password } },
}

export const registrationExamples: NamedExamples = {
  merchant: {
    summary: 'A user with a merchant',
    value: { email, password, name: 'Awa Koné', merchantName: 'Boutique Awa', country: 'CI' },
  },
}

export const refreshExamples: NamedExamples = {
  refresh: { summary: 'The newest token of the session', value: { refreshToken: token } },
}

export const addressExamples: NamedExamples = { address: { summary: 'An address', value: { email } } }
export const tokenExamples: NamedExamples = { token: { summary: 'From the mailed link', value: { token } } }

export const passwordResetExamples: NamedExamples = {
  reset: { summary: 'A new password', value: { token, newPassword: 'encore quatre mots au hasard' } },
}

export const passwordChangeExamples: NamedExamples = {
  change: {
    summary: 'Another password',
    value: { currentPassword: password, newPassword: 'encore quatre mots au hasard' },
  },
  other: {
    summary: 'Another one',
    value: { currentPassword: password, newPassword: 'rien que cinq mots sans suite' },
  },
}
