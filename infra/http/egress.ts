import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { LRUCache } from 'lru-cache'
import { buildConnector, Pool } from 'undici'
import { isPublicAddress, type AddressBlock } from './addresses.ts'
import { HttpCall, type CallAnswer, type HttpCallLimits } from './exchange.ts'
import { dnsLookup } from './resolver.ts'

/** The guard that all outgoing calls to addresses given by others go through. */

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
function addressIn(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) ? bare : undefined
}

/** The name leads to an address that must not be called. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'

  constructor(host: string) {
    super(`${host} leads to a loopback, private or reserved address`)
  }
}

export interface EgressOptions extends HttpCallLimits {
  readonly allow: readonly AddressBlock[]
  readonly connectTimeoutMs: number
  readonly poolsMax: number
  /** DNS, unless a test brings its own. */
  readonly lookup?: LookupFunction
}

export interface Call {
  readonly url: string
  /** What is undefined is not sent. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export interface Egress {
  /**
   * Posts once, follows nothing and repeats nothing. Rejects when no answer came: AddressRefusedError,
   * CallTimedOutError or the network's error.
   */
  post(call: Call): Promise<CallAnswer>
  close(): Promise<void>
}

/**
 * One pool of connections per origin; the one that was not used for the longest time goes when there are too
 * many.
 */
export function guardedPools(options: EgressOptions): Egress {
  const connect = guardedConnector(options)
  const pools = new LRUCache<string, Pool>({
    max: options.poolsMax,
    dispose: (pool) => void pool.close(),
    memoMethod: (origin) => openPool(origin, connect),
  })
  const places = new LRUCache<string, Target>({ max: options.poolsMax, memoMethod: placeOf })

  return {
    async post({ url, headers, body }) {
      const { origin, path } = places.memo(url)
      const pool = pools.memo(origin)
      const exchange = new HttpCall(options)
      pool.dispatch({ method: 'POST', path, headers, body }, exchange)
      return exchange.answer
    },
    async close() {
      const open = [...pools.values()]
      await Promise.all(open.map((pool) => pool.destroy()))
    },
  }
}

/**
 * Undici's own time-outs begin anew with every byte; the only one here is for the whole call. Callers limit
 * how many they make; connections are not limited, because waiting for one would use up a call's time.
 */
function openPool(origin: string, connect: buildConnector.connector): Pool {
  return new Pool(origin, { connect, headersTimeout: 0, bodyTimeout: 0 })
}

interface Target {
  readonly origin: string
  readonly path: string
}

function placeOf(url: string): Target {
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

/** Both tries end before the time to connect does, so the answer tells that it was the name. */
const patience = { timeoutMs: 1_500, tries: 2 }

/**
 * The address is checked inside the socket's own look-up, so what was checked is what is called: a name that
 * answers differently the second time finds no second time. Addresses in the URL itself are never looked up,
 * so they are checked here.
 */
function guardedConnector({
  allow,
  connectTimeoutMs,
  lookup = dnsLookup(patience),
}: EgressOptions): buildConnector.connector {
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      if (error) return callback(error, found, family)
      const addresses: readonly LookupAddress[] =
        typeof found === 'string' ? [{ address: found, family: family ?? 0 }] : found
      const refused = addresses.some(({ address }) => !isPublicAddress(address, allow))
      callback(refused ? new AddressRefusedError(hostname) : null, found, family)
    })
  }
  const connect = buildConnector({ lookup: guardedLookup, timeout: connectTimeoutMs, keepAlive: true })

  return (target, callback) => {
    const address = addressIn(target.hostname)
    // RFC 6761: this name means this machine, whatever a name server says.
    if (/(^|\.)localhost\.?$/i.test(target.hostname))
      return callback(new AddressRefusedError(target.hostname), null)
    if (address && !isPublicAddress(address, allow)) return callback(new AddressRefusedError(address), null)
    connect(target, callback)
  }
}
