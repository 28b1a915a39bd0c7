import { refuseField } from '../../../../packages/contract/refusals.ts'
import type { Dependencies } from '../../../../packages/contract/routes.ts'
import type { GoogleAccount } from '../../../../packages/kernel/ports/credentials.ts'

// What a browser carries between this service, Google and the dashboard is stored nowhere.

interface Visit {
  /** Of its challenge. */
  readonly id: string
  readonly returnUrl: string
}

type Signing = Pick<Dependencies, 'blindIndex'>
type Sealing = Pick<Dependencies, 'vault'>

/** Nobody else can compute it, and a repeat of the request gets the same. */
export async function stateOf(dependencies: Signing, { id, returnUrl }: Visit): Promise<string> {
  const text = Buffer.from(JSON.stringify([id, returnUrl])).toString('base64url')
  return `${text}.${await signature(dependencies, text)}`
}

/** `undefined` for what was never signed here. */
export async function visitOf(dependencies: Signing, state = ''): Promise<Visit | undefined> {
  const [text = ''] = state.split('.')
  if (state !== `${text}.${await signature(dependencies, text)}`) return undefined
  const [id, returnUrl] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string]
  return { id, returnUrl }
}

async function signature({ blindIndex }: Signing, text: string): Promise<string> {
  const halves = [0, 1].map((half) => blindIndex(JSON.stringify(['google state', half, text])))
  return (await Promise.all(halves)).join('').replaceAll('-', '')
}

const codeContext = (id: string) => `google code ${id}`

export function sealedCode({ vault }: Sealing, id: string, account: GoogleAccount): string {
  return vault.seal(JSON.stringify(account), codeContext(id))
}

/** `undefined` for what was never sealed here, or for another visit. */
export function openCode({ vault }: Sealing, id: string, code: string): GoogleAccount | undefined {
  try {
    return JSON.parse(vault.open(code, codeContext(id))) as GoogleAccount
  } catch {
    return undefined
  }
}

/** Browsers are sent to pages of ours alone: anybody could have put another address into the request. */
export function returnUrlIn(
  { dashboardUrl }: Pick<Dependencies, 'dashboardUrl'>,
  given: string | null | undefined,
): string {
  const url = given ?? dashboardUrl
  const isOurs = URL.canParse(url) && siteOf(url) === siteOf(dashboardUrl)
  const message = 'returnUrl must be a page of the dashboard'
  return isOurs ? url : refuseField('request_must_be_valid', '/returnUrl', message)
}

/** A `blob:` has the origin of its maker, and a user's name before the host stays in addresses. */
function siteOf(url: string): string {
  const { protocol, username, password, host } = new URL(url)
  return JSON.stringify([protocol, username, password, host])
}

export function withAdded(url: string, added: Readonly<Record<string, string>>): string {
  const full = new URL(url)
  for (const [name, value] of Object.entries(added)) full.searchParams.set(name, value)
  return full.href
}
