import type { NamedExamples } from '../../../contract/routes.ts'

const challengeId = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const newPhone = '+2250700000042'
const other = '+2250700000043'

export const phoneChangeExamples: NamedExamples = {
  number: { summary: 'Another number', value: { challengeId, newPhone } },
  other: { summary: 'Yet another one', value: { challengeId, newPhone: other } },
}

export const phoneRequestExamples: NamedExamples = {
  number: { summary: 'Another number', value: { newPhone } },
  other: { summary: 'Yet another one', value: { newPhone: other } },
}

export const phoneProofExamples: NamedExamples = {
  newest: { summary: 'The newest change', value: { code: '123456' } },
  one: { summary: 'This one', value: { requestId: challengeId, code: '123456' } },
}

export const sensitiveExamples: NamedExamples = {
  number: { summary: 'Another number', value: { challengeId, newPhone } },
  password: {
    summary: 'Another password',
    value: { challengeId, newPassword: 'encore quatre mots au hasard' },
  },
}

export const preSignupEmailExamples: NamedExamples = {
  address: { summary: 'An address', value: { email: 'awa@example.com' } },
  other: { summary: 'Another one', value: { email: 'awa.kone@example.com' } },
}

export const preSignupPhoneExamples: NamedExamples = {
  number: { summary: 'A number', value: { phone: newPhone } },
  other: { summary: 'Another one', value: { phone: other } },
}

export const preSignupAnswerExamples: NamedExamples = {
  code: { summary: 'Six digits', value: { challengeId, code: '123456' } },
  other: { summary: 'Others', value: { challengeId, code: '654321' } },
}
