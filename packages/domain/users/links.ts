import { refuse } from '../../contract/refusals.ts'
import { noRequests, withRequest, type Requests } from './parts.ts'

const hourMs = 3_600_000

/** Domain model, section 4: how long a mailed link can be used. */
export const linkLastsMs = {
  verify_email: 24 * hourMs,
  reset_password: hourMs,
  magic_link: hourMs / 4,
} as const

export type LinkPurpose = keyof typeof linkLastsMs
export const linkPurposes = [
  'verify_email',
  'reset_password',
  'magic_link',
] as const satisfies readonly LinkPurpose[]

export interface Link {
  readonly id: string
  /** RFC 3339. */
  readonly expiresAt: string
  readonly isMailed: boolean
}

export interface Links extends Requests {
  /** The newest of each purpose: it makes older ones invalid. */
  readonly links: Readonly<Partial<Record<LinkPurpose, Link>>>
}

export const noLinks: Links = { links: {}, ...noRequests }

export function newLink(purpose: LinkPurpose, link: string, { now }: { readonly now: Date }) {
  return { link, expiresAt: new Date(now.getTime() + linkLastsMs[purpose]).toISOString() }
}

interface Using {
  readonly link: string
  readonly context: { readonly now: Date }
}

/** One use, only the newest, not too late. */
export function useLink({ links }: Links, purpose: LinkPurpose, { link, context }: Using): void {
  const newest = links[purpose]
  if (newest?.id !== link || context.now >= new Date(newest.expiresAt)) refuse('token_must_be_valid')
}

export function withNewLink<State extends Links>(
  state: State,
  purpose: LinkPurpose,
  { link: id, expiresAt }: { readonly link: string; readonly expiresAt: string },
): State {
  return { ...withLink(state, purpose, { id, expiresAt, isMailed: false }), ...withRequest(state, id) }
}

export function withLink<State extends Links>(
  state: State,
  purpose: LinkPurpose,
  link: Link | undefined,
): State {
  const { [purpose]: _, ...others } = state.links
  return { ...state, links: { ...others, ...(link && { [purpose]: link }) } }
}
