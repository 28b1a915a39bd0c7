import { refuseField } from '../../../../packages/contract/refusals.ts'
import type { Caller } from '../../../../packages/contract/access/callers.ts'
import type { Dependencies } from '../../../../packages/contract/routes.ts'
import { portalSession } from '../../../../packages/domain/portal/portal-session.ts'
import { readState } from '../../../../packages/kernel/history.ts'

// Where payers return to is in the address of our page, signed: it is stored nowhere, and nobody else can
// make our page lead anywhere.

type Signing = Pick<Dependencies, 'blindIndex'>

/** The page's address, from which it leads back to `returnUrl`. */
export async function withReturn(
  dependencies: Signing,
  page: string,
  returnUrl: string | null | undefined,
): Promise<string> {
  if (!returnUrl) return page
  const text = Buffer.from(returnUrl).toString('base64url')
  const address = new URL(page)
  address.searchParams.set('back', `${text}.${await signature(dependencies, page, text)}`)
  return address.href
}

/** Null for what was never signed for this page. */
export async function returnIn(dependencies: Signing, page: string, back: unknown): Promise<string | null> {
  if (typeof back !== 'string') return null
  const [text = '', signed] = back.split('.')
  if (signed !== (await signature(dependencies, page, text))) return null
  return Buffer.from(text, 'base64url').toString()
}

/** By its path: the service may be reached by several names. */
async function signature({ blindIndex }: Signing, page: string, text: string): Promise<string> {
  const { pathname } = new URL(page)
  const halves = [0, 1].map((half) => blindIndex(JSON.stringify(['payer returns', half, pathname, text])))
  return (await Promise.all(halves)).join('').replaceAll('-', '')
}

interface Leading {
  readonly caller: Caller
  readonly dependencies: Pick<Dependencies, 'store' | 'baseUrl'>
}

/** A customer is sent where the merchant has opened the portal from, or to us: it could be anybody. */
export async function mustReturnHome(
  { caller, dependencies }: Leading,
  returnUrl: string | null | undefined,
): Promise<void> {
  if (!returnUrl || caller.credential !== 'customer_portal') return
  const session = await readState(dependencies.store, portalSession, caller.session)
  const home = session.status === 'none' ? null : session.returnUrl
  const known = [dependencies.baseUrl, home].filter((one) => one !== null && URL.canParse(one))
  const origins = known.map((one) => new URL(one!).origin)
  if (origins.includes(new URL(returnUrl).origin)) return
  const message = `returnUrl is not of ${origins.join(' or ')}, where customers of this session return to`
  refuseField('request_must_be_valid', '/returnUrl', message)
}
