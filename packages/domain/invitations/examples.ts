import type { NamedExamples } from '../../contract/routes.ts'

export const invitationExamples: NamedExamples = {
  developer: {
    summary: 'A developer',
    value: { email: 'ibra@example.com', role: 'developer', name: 'Ibra Diop' },
  },
  support: { summary: 'Somebody who answers payers', value: { email: 'fatou@example.com', role: 'support' } },
}

const token = 'eyJhbGciOiJFZERTQSJ9…'

export const acceptanceExamples: NamedExamples = {
  newcomer: {
    summary: 'Somebody who is new here',
    value: { token, password: 'quatre mots sans lien', name: 'Ibra Diop' },
  },
  known: { summary: 'Somebody who has an account', value: { token } },
}
