import { Refusal } from '../../packages/contract/refusals.ts'
import { apiKey, apiKeyId } from '../../packages/domain/api-keys/api-key.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { readState } from '../../packages/kernel/history.ts'
import { equal } from '../../packages/kernel/ports/reads.ts'
import { securityEvents } from '../../projections/security-events.ts'
import { NotYetError } from '../composition/observing/failures.ts'
import type { Process, Reaction } from './runner/process.ts'

const waitMs = 1_000
const pageSize = 100

/** What an account issued before it was taken over, a stranger knows: decision 24. */
export const takenOverProcess: Process = { reactions: { UserTakenOver: revokeKeys } }

async function revokeKeys({ event: { id: user, position }, tools }: Reaction): Promise<void> {
  const { dependencies } = tools
  const { reads } = dependencies
  if (!(await reads.reached(position, waitMs, securityEvents.name)))
    throw new NotYetError('the keys that the user has issued are not all known yet')
  for (let before: number | undefined = position; before !== undefined;) {
    const page = await keyEvents(dependencies, user, before)
    for (const event of page) await revokeShown(dependencies, user, event)
    before = page.length === pageSize ? page.at(-1)!.position : undefined
  }
}

interface KeyEvent {
  /** The key. */
  readonly subject: string
  readonly type: 'ApiKeyIssued' | 'ApiKeyRolled'
  readonly position: number
}

async function keyEvents(
  { reads }: Dependencies,
  user: string,
  before: number,
): Promise<readonly KeyEvent[]> {
  const { rows } = await reads.page<KeyEvent>({
    from: securityEvents.name,
    where: [
      ...equal({ user }),
      { column: 'type', operator: 'in', value: ['ApiKeyIssued', 'ApiKeyRolled'] },
      { column: 'position', operator: '<', value: before },
    ],
    order: 'position',
    limit: pageSize,
  })
  return rows
}

/** Whoever issues a key sees it, and whoever rolls one sees its successor. */
async function revokeShown(dependencies: Dependencies, user: string, event: KeyEvent): Promise<void> {
  const { store, executor, newId } = dependencies
  const known = await readState(store, apiKey, event.subject)
  if (known.status === 'none') return
  const { merchant, livemode, successor } = known
  const envelope = { merchant, livemode, actor: `user:${user}`, correlation: newId() }
  const revoke = { type: 'RevokeApiKey', data: { reason: 'the account that had it was taken over' } } as const
  const end = (id: string) => executor.send(apiKey, id, revoke, envelope).catch(unlessRevoked)
  if (event.type === 'ApiKeyIssued') return void (await end(event.subject))
  const id = apiKeyId(successor!.hash)
  // A policy may be late: the key is issued first, so that it cannot be afterwards.
  await executor.send(apiKey, id, { type: 'IssueApiKey', data: successor! }, envelope)
  await end(id)
}

function unlessRevoked(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}
