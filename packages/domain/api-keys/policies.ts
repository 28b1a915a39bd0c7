import { policy, to } from '../../kernel/policy.ts'
import { apiKey, apiKeyId, type ApiKeyEvents } from './api-key.ts'

/** A key and its successor are two streams, and only the old one decides which successor it has. */
export const issueSuccessor = policy<ApiKeyEvents>('issue the successor of an API key', {
  ApiKeyRolled: ({ data: { successor } }) => [
    to(apiKey, apiKeyId(successor.hash), { type: 'IssueApiKey', data: successor }),
  ],
})
