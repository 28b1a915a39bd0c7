import type { NamedExamples } from '../../../contract/routes.ts'

const challengeId = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const completion = { code: 'v1.5b1f…', state: 'WyIwMTkw….5b1f…' }

export const googleBeginningExamples: NamedExamples = {
  dashboard: { summary: 'Back to the first page of the dashboard', value: {} },
  none: { summary: 'The same', value: { returnUrl: null } },
}

export const googleConnectionExamples: NamedExamples = {
  first: { summary: 'Without a second factor', value: {} },
  proven: { summary: 'With a verified challenge', value: { challengeId } },
}

export const googleDisconnectionExamples: NamedExamples = {
  first: { summary: 'Without a second factor', value: {} },
  proven: { summary: 'With a verified challenge', value: { challengeId } },
}

export const googleCompletionExamples: NamedExamples = {
  completion: { summary: 'The code, and what the page has kept', value: completion },
}
