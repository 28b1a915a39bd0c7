import { hash as digest, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../../../../packages/contract/access/callers.ts'
import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Dependencies } from '../../../../packages/contract/routes.ts'
import { merchant } from '../../../../packages/domain/merchants/merchant.ts'
import {
  isOver,
  portalSession,
  type ExistingPortal,
} from '../../../../packages/domain/portal/portal-session.ts'
import { sessionOfToken } from '../../../../packages/domain/portal/token.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import type { Authenticator, Presented } from './credentials.ts'

const hashesKept = 20_000
/** A token, valid or not. */
const form = /^Bearer pst_/i

type Parts = Pick<Dependencies, 'store' | 'clock'>

/**
 * Tokens of customers' portals. A session is one short stream, read with each request: so what was erased or
 * suspended a moment ago is so at once.
 */
export class PortalTokens implements Authenticator {
  readonly #parts: Parts
  /** Of tokens that were valid a moment ago. */
  readonly #known = new LRUCache<string, true>({ max: hashesKept })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly recognises = (authorization: string) => form.test(authorization)
  readonly knows = (authorization: string) => this.#known.has(hashOf(authorization))

  async authenticate({ authorization = '' }: Presented): Promise<Caller> {
    const { id: session, state } = await openPortal(this.#parts, authorization.replace(/^Bearer /i, ''))
    this.#known.set(hashOf(authorization), true)
    const { merchant: owner, livemode, customer, permissions } = state
    const { status } = await readState(this.#parts.store, merchant, owner)
    return {
      credential: 'customer_portal',
      merchant: owner,
      livemode,
      actor: actorOf(session),
      session,
      customer,
      permissions,
      ...(status === 'suspended' && { isSuspended: true }),
    }
  }
}

/** The customer, by the session. */
export function actorOf(session: string): string {
  return `portal:${session}`
}

export interface OpenPortal {
  readonly id: string
  readonly state: ExistingPortal
}

/** The session that a token opens, while it does. */
export async function openPortal(parts: Parts, token: string): Promise<OpenPortal> {
  const found = await sessionOf(parts, token)
  if (!found || isOver(found.state, parts.clock())) return refuse('portal_token_must_be_valid')
  return found
}

/** The session whose token it is, also where it is over. */
export async function sessionOf(
  { store }: Pick<Parts, 'store'>,
  token: string,
): Promise<OpenPortal | undefined> {
  const id = sessionOfToken(token)
  const state = id && (await readState(store, portalSession, id))
  if (!id || !state || state.status === 'none') return undefined
  return isSame(state.hash, hashOf(token)) ? { id, state } : undefined
}

export function hashOf(token: string): string {
  return digest('sha256', token)
}

/** What is left of an erased customer's hash is shorter. */
function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
