import type { NamedExamples } from '../../../contract/routes.ts'

const challengeId = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'

export const challengeExamples: NamedExamples = {
  purpose: { summary: 'What is to be done with it', value: { purpose: 'disable_totp' } },
  other: { summary: 'Something else', value: { purpose: 'recovery_codes' } },
}

export const answerExamples: NamedExamples = {
  code: { summary: 'Six digits', value: { challengeId, code: '123456' } },
  recovery: { summary: 'A recovery code', value: { challengeId, code: 'abcde-fghjk' } },
}

export const totpBeginningExamples: NamedExamples = {
  fresh: { summary: 'Right after signing in', value: {} },
  proven: { summary: 'With a verified challenge', value: { challengeId } },
}

export const totpExamples: NamedExamples = {
  code: { summary: 'What it shows', value: { secretId: challengeId, code: '123456' } },
  later: { summary: 'What it shows later', value: { secretId: challengeId, code: '654321' } },
}

export const proofExamples: NamedExamples = {
  proof: { summary: 'A verified challenge', value: { challengeId } },
  other: { summary: 'Another one', value: { challengeId: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c' } },
}

export const provenPasswordExamples: NamedExamples = {
  change: {
    summary: 'Another password',
    value: { challengeId, newPassword: 'encore quatre mots au hasard' },
  },
  other: {
    summary: 'Another one',
    value: { challengeId, newPassword: 'rien que cinq mots sans suite' },
  },
}
