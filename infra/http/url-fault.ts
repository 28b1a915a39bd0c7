import { isIP } from 'node:net'
import { isPublicAddress, type AddressBlock } from './addresses.ts'

/** Which URLs are taken at all; what their names lead to is seen when they are called (`egress.ts`). */

export interface UrlRules {
  readonly livemode: boolean
  /** Blocks that are reachable although they are not public: for tests and for closed networks. */
  readonly allow: readonly AddressBlock[]
}

/**
 * Why a URL is refused, in a sentence for the merchant; `undefined` when it is accepted. Nothing is looked up
 * or called.
 */
export function urlFault(text: string, { livemode, allow }: UrlRules): string | undefined {
  const spelled = /^(https?):\/\/([^/?#\\\s]+)[^\s\\]*$/i.exec(text)
  if (!spelled || !URL.canParse(text)) return 'must be an absolute http or https URL'
  const [, scheme = '', authority = ''] = spelled
  /** Spec, Limits: HTTPS required in live, HTTP only in sandbox. */
  if (livemode && scheme.toLowerCase() !== 'https') return 'must use https in live'
  if (authority.includes('@')) return 'must not carry a user name or password'
  const { hostname, port } = new URL(text)
  if (port === '0') return 'must not name port 0'
  if (hostname.endsWith('.')) return 'must not end its host name with a dot'
  const address = addressIn(hostname)
  if (!address) return nameFault(hostname)
  // 0x7f.1 and 017700000001 are 127.0.0.1 to some and something else to others.
  const written = authority.toLowerCase().startsWith(hostname)
  if (isIP(address) === 4 && !written) return 'must spell an IPv4 address as four decimal numbers'
  return isPublicAddress(address, allow) ? undefined : 'must not be a loopback, private or reserved address'
}

/**
 * Spec, Accepted endpoint URLs: localhost and names below it are refused. Inferred: other names that only
 * mean something inside.
 */
function nameFault(hostname: string): string | undefined {
  const last = hostname.slice(hostname.lastIndexOf('.') + 1)
  if (
    ['localhost', 'local', 'internal', 'localdomain', 'home', 'lan', 'intranet', 'corp'].includes(last) ||
    hostname.endsWith('.home.arpa')
  ) {
    return 'must not name a host of a local network'
  }
  return hostname.includes('.') ? undefined : 'must name a host with its domain'
}

/** The address that a host name is, without the brackets of IPv6. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) ? bare : undefined
}
