import { LanguageQuery } from '../../../packages/contract/payments/hosted-pages.ts'
import { identity, publicId } from '../../../packages/contract/identity.ts'
import { Refusal, refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Redirection } from '../../../packages/contract/lists/pages.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { literals, optional, record, type Static } from '../../../packages/contract/vocabulary.ts'
import {
  idOfSlug,
  paymentLink,
  type ExistingLink,
  type PaymentLinkCommands,
} from '../../../packages/domain/payment-links/payment-link.ts'
import type { PaymentLinkRequest } from '../../../packages/domain/payment-links/resource.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import type { Owner } from '../../../packages/kernel/owner.ts'
import { checkoutSession, type CheckoutSession } from '../../../packages/domain/checkout/checkout-session.ts'
import { checkoutSessions } from '../../../projections/checkout.ts'
import { currentState } from '../kinds/current-state.ts'
import { activeMerchant, admittedTerms, openLink } from './hosted/checkout-terms.ts'
import { isPayable, paymentOf } from './checkout-sessions.ts'
import { holderOfLink } from './hosted/checkout-links.ts'

type Creation = Request<Static<typeof PaymentLinkRequest>>

export async function prepareLink(request: Creation): Promise<PaymentLinkCommands['CreateLink']> {
  const { body, dependencies, owner } = request
  const { expiresAt = null } = body
  if (expiresAt !== null && Date.parse(expiresAt) <= dependencies.clock(owner).getTime())
    refuseField('request_must_be_valid', '/expiresAt', 'expiresAt must be in the future')
  const feeMode = body.feeMode ?? 'merchant_pays'
  return {
    ...(await admittedTerms(request, body, { amount: body.amount ?? null, feeMode })),
    feeMode,
    description: body.description ?? null,
    expiresAt,
    isSingleUse: body.isSingleUse ?? false,
    pages: `${dependencies.baseUrl}/pay`,
  }
}

/** Whoever has the link acts for the merchant who made it. */
export async function ownerOfLink({
  params,
  dependencies,
}: Pick<Request, 'params' | 'dependencies'>): Promise<Owner> {
  const id = idOfSlug(params['slug']!) ?? refuse('resource_must_exist', { detail: unknown })
  const [first] = await dependencies.store.readStream(streamName(paymentLink.category, id), 0, 1)
  return first?.metadata ?? refuse('resource_must_exist', { detail: unknown })
}

const unknown = 'No such payment link'
const cookieName = 'ikw_session'
/** A session is open for a day, and a payment that was begun in it may run on after that. */
const cookieSeconds = 2 * 24 * 3_600

export const LinkQuery = record({
  ...LanguageQuery.properties,
  open: optional({ ...literals('1'), description: 'A session is opened, whoever asks' }),
})

/** What a preview tells about a link. */
export interface LinkPreview {
  readonly merchant: string
  readonly livemode: boolean
  readonly link: ExistingLink
}

/** The payer goes on with the session that this browser has already opened, else with a new one. */
export async function followPaymentLink(
  request: Request<undefined, Static<typeof LinkQuery>>,
): Promise<Redirection | { readonly seen: LinkPreview }> {
  const { params, query, dependencies, id } = request
  const linkId = idOfSlug(params['slug']!)!
  const language = query.lang === undefined ? '' : `?lang=${encodeURIComponent(query.lang)}`
  const known = await knownSession(request, linkId)
  if (known?.goesOn) return { location: known.url + language }
  const link = await linkFor(request, linkId, known)
  if (!link) return { location: known!.url + language }
  const { name } = await activeMerchant(dependencies, request.caller.merchant)
  if (link.isSingleUse) await holderOfLink(request, linkId)
  if (request.client.isLooking && query.open === undefined)
    return { seen: { merchant: name, livemode: link.livemode, link } }
  const data = { ...sessionFor(link), link: linkId, pages: `${dependencies.baseUrl}/checkout/session` }
  const command = { type: 'OpenSession', data } as const
  const opened = await request.send(checkoutSession, id, command, { mustBeNew: true })
  if (opened.state.status === 'none') throw new Error('a session was not opened')
  const cookie = { name: cookieName, value: publicId('cs', id), seconds: cookieSeconds }
  return { location: opened.state.url + language, cookie }
}

interface KnownSession {
  readonly url: string
  readonly goesOn: boolean
  readonly isPaid: boolean
}

/** Coming back is safe: what this browser has begun goes on, whatever has become of the link. */
async function knownSession(request: RequestPart, link: string): Promise<KnownSession | undefined> {
  const [, id] = new RegExp(`(?:^|; )${cookieName}=(cs_[0-9a-f]{32})(?:;|$)`).exec(request.cookie ?? '') ?? []
  const state = id && (await currentState(request, checkoutSessions, identity(id, 'cs')!))
  const session = state as CheckoutSession | undefined
  if (!session || session.status === 'none' || session.link !== link) return undefined
  const goesOn = isPayable(request, session) || (await paymentOf(request, session)) === 'processing'
  return { url: session.url, goesOn, isPaid: session.status === 'completed' }
}

/** Nothing where it is closed: whoever has paid by it sees that, and need not ask for another one. */
async function linkFor(
  request: Parameters<typeof openLink>[0],
  id: string,
  known: KnownSession | undefined,
): Promise<ExistingLink | undefined> {
  try {
    return await openLink(request, id)
  } catch (error) {
    const isClosed = error instanceof Refusal && error.reason === 'payment_link_must_be_open'
    if (isClosed && known?.isPaid) return undefined
    throw error
  }
}

type RequestPart = Pick<Request, 'owner' | 'dependencies' | 'cookie'>

function sessionFor({ amount, currency, country, methods, feeMode, description }: ExistingLink) {
  const nobody = { customer: null, email: null, phone: null }
  const nowhere = { successUrl: null, cancelUrl: null }
  const terms = { amount, currency, country, methods, feeMode, description }
  return { ...terms, ...nobody, ...nowhere, metadata: {}, attaches: false }
}
