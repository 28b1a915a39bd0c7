import { publicId } from '../../../packages/contract/identity.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Redirection } from '../../../packages/contract/pages.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import {
  idOfSlug,
  paymentLink,
  type ExistingLink,
  type PaymentLinkCommands,
} from '../../../packages/domain/payment-links/payment-link.ts'
import type { PaymentLinkRequest } from '../../../packages/domain/payment-links/resource.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import type { Owner } from '../../../packages/kernel/owner.ts'
import { checkoutSession } from '../../../packages/domain/checkout/checkout-session.ts'
import { activeMerchant, admittedTerms, openLink } from './checkout-terms.ts'
import { isPayable, sessionOf } from './checkout-sessions.ts'
import { holderOfLink } from './checkout-links.ts'

type Creation = Request<Static<typeof PaymentLinkRequest>>

export async function prepareLink(request: Creation): Promise<PaymentLinkCommands['CreateLink']> {
  const { body, dependencies, owner } = request
  const { expiresAt = null } = body
  if (expiresAt !== null && Date.parse(expiresAt) <= dependencies.clock(owner).getTime())
    refuseField('request_must_be_valid', '/expiresAt', 'expiresAt must be in the future')
  return {
    ...(await admittedTerms(request, body, body.amount ?? null)),
    feeMode: body.feeMode ?? 'merchant_pays',
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
/** As long as a session is open. */
const cookieSeconds = 24 * 3_600

/** The payer goes on with the session that this browser has already opened, else with a new one. */
export async function followPaymentLink(request: Request<undefined>): Promise<Redirection> {
  const { params, cookie = '', dependencies, id } = request
  const link = idOfSlug(params['slug']!)!
  const known = await knownSession(request, link, cookie)
  if (known) return { location: known }
  await activeMerchant(dependencies, request.caller.merchant)
  const state = await openLink(request, link)
  if (state.isSingleUse) await holderOfLink(request, link)
  const data = { ...sessionFor(state), link, pages: `${dependencies.baseUrl}/checkout/session` }
  const command = { type: 'OpenSession', data } as const
  const opened = await request.send(checkoutSession, id, command, { mustBeNew: true })
  if (opened.state.status === 'none') throw new Error('a session was not opened')
  const value = publicId('cs', id)
  return { location: opened.state.url, cookie: { name: cookieName, value, seconds: cookieSeconds } }
}

/** Coming back is safe: what this browser has begun goes on, whatever has become of the link. */
async function knownSession(request: Request<undefined>, link: string, cookie: string) {
  const [, id] = new RegExp(`(?:^|; )${cookieName}=cs_([0-9a-f]{32})(?:;|$)`).exec(cookie) ?? []
  const uuid = id?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  const session = uuid && (await sessionOf(request, uuid).catch(() => undefined))
  return session && session.link === link && isPayable(request, session) ? session.url : undefined
}

function sessionFor({ amount, currency, country, methods, feeMode, description }: ExistingLink) {
  const nobody = { customer: null, email: null, phone: null }
  const nowhere = { successUrl: null, cancelUrl: null }
  const terms = { amount, currency, country, methods, feeMode, description }
  return { ...terms, ...nobody, ...nowhere, metadata: {}, attaches: false }
}
