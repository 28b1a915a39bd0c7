import { change, history, list, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { apiKey } from '../../../packages/domain/api-keys/api-key.ts'
import { apiKeyExamples, rollExamples } from '../../../packages/domain/api-keys/examples.ts'
import {
  ApiKeyRequest,
  ApiKeyResource,
  ApiKeyRoll,
  KeyEnvironment,
  NewApiKeyResource,
  RevokedApiKey,
  viewApiKey,
  viewNewApiKey,
  viewRevokedApiKey,
} from '../../../packages/domain/api-keys/resource.ts'
import { apiKeys } from '../../../projections/api-keys.ts'
import {
  issueApiKey,
  issueSuccessor,
  now,
  prepareRoll,
  showSuccessor,
} from '../actions/organizations/api-keys.ts'

const ofUsers = { credentials: ['user'], environment: 'either' } as const
const viewed = { view: viewApiKey, beside: now, returns: ApiKeyResource } as const
const read = { ...ofUsers, ...viewed, scope: 'apikeys.read', from: apiKeys } as const
const write = { ...ofUsers, scope: 'apikeys.write' } as const
const params = { id: 'api_key' }

const rows = [
  list('GET /api/v1/auth/api-keys', {
    ...read,
    summary: 'API keys of the merchant, newest first; of each key only the last four characters',
    paging: 'cursor',
    filter: { environment: KeyEnvironment },
  }),

  show('GET /api/v1/auth/api-keys/{id}', { ...read, params, summary: 'One API key', inferred: true }),

  perform('POST /api/v1/auth/api-keys', {
    ...write,
    summary: 'Issue a key with scopes of your own; it is shown once. A live key needs a challenge',
    body: ApiKeyRequest,
    examples: apiKeyExamples,
    status: 201,
    returns: NewApiKeyResource,
    showsSecret: true,
    refusals: ['challenge_must_be_verified'],
    action: issueApiKey,
  }),

  change('POST /api/v1/auth/api-keys/{id}/roll', {
    ...write,
    params,
    summary: 'Issue a key that takes the place of this one, which stops at once or after an overlap',
    body: ApiKeyRoll,
    examples: rollExamples,
    decider: apiKey,
    command: 'RollApiKey',
    prepare: prepareRoll,
    after: issueSuccessor,
    view: (_id, _state, issued) => viewNewApiKey(issued),
    beside: showSuccessor,
    returns: NewApiKeyResource,
    showsSecret: true,
    refusals: ['challenge_must_be_verified', 'api_key_must_be_active'],
  }),

  change('DELETE /api/v1/auth/api-keys/{id}', {
    ...write,
    params,
    summary: 'Revoke a key; it stops at once',
    decider: apiKey,
    command: 'RevokeApiKey',
    data: () => ({ reason: 'revoked' }),
    view: viewRevokedApiKey,
    returns: RevokedApiKey,
  }),

  history('GET /api/v1/auth/api-keys/{id}/history', { ...read, params }),
]

export const apiKeyRoutes = section(
  'API keys',
  'Keys for machines, issued by users of the merchant. A key has the scopes that it was given, for one ' +
    'environment, and never more than the user had who issued it.',
  rows,
)
