import type { NamedExamples } from '../../../contract/routes.ts'

const challengeId = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const newEmail = 'awa.kone@example.com'

export const infoExamples: NamedExamples = {
  language: { summary: 'Mails in English', value: { language: 'en' } },
  name: { summary: 'Another name', value: { name: 'Awa Koné-Traoré' } },
}

export const emailChangeExamples: NamedExamples = {
  address: { summary: 'Another address', value: { challengeId, newEmail } },
  other: { summary: 'Yet another one', value: { challengeId, newEmail: 'awa.traore@example.com' } },
}

export const emailRequestExamples: NamedExamples = {
  address: { summary: 'Another address', value: { newEmail } },
  other: { summary: 'Yet another one', value: { newEmail: 'awa.traore@example.com' } },
}

export const cancellationExamples: NamedExamples = {
  newest: { summary: 'The newest', value: {} },
  one: { summary: 'This one', value: { requestId: challengeId } },
}
