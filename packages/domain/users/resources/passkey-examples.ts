import type { NamedExamples } from '../../../contract/routes.ts'

const challengeId = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const credential = { id: 'q83vEjRWeJA', rawId: 'q83vEjRWeJA', type: 'public-key' }
const created = { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXQ' }
const used = {
  clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
  authenticatorData: 'SZYN5Y',
  signature: 'MEUCIQ',
}

export const passkeyCreationExamples: NamedExamples = {
  first: { summary: 'The first second factor', value: {} },
  proven: { summary: 'With a verified challenge', value: { challengeId } },
}

export const passkeyRegistrationExamples: NamedExamples = {
  named: {
    summary: 'What the browser answered',
    value: { attestationResponse: { ...credential, response: created }, nickname: 'Téléphone' },
  },
  unnamed: {
    summary: 'Without a name',
    value: { attestationResponse: { ...credential, response: created } },
  },
}

export const passkeyNameExamples: NamedExamples = {
  name: { summary: 'Another name', value: { nickname: 'Clé du bureau' } },
  other: { summary: 'Yet another one', value: { nickname: 'Téléphone' } },
}

export const passkeySignInExamples: NamedExamples = {
  any: { summary: 'Any that the device knows', value: {} },
  address: { summary: 'Those of a user', value: { email: 'awa@example.com' } },
}

export const passkeyProofExamples: NamedExamples = {
  purpose: { summary: 'What is to be done with it', value: { purpose: 'disable_totp' } },
  other: { summary: 'Something else', value: { purpose: 'remove_passkey' } },
}

export const passkeyAnswerExamples: NamedExamples = {
  answer: {
    summary: 'What the browser answered',
    value: { assertionResponse: { ...credential, response: used } },
  },
  text: {
    summary: 'The same as a text',
    value: { assertionResponse: JSON.stringify({ ...credential, response: used }) },
  },
}
