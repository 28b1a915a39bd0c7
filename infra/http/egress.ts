import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { LRUCache } from 'lru-cache'
import { buildConnector, Pool } from 'undici'
import { isPublicAddress, type AddressBlock } from './addresses.ts'
import { HttpCall, type CallAnswer, type HttpCallLimits } from './exchange.ts'
import { dnsLookup } from './resolver.ts'
import { addressIn } from './url-fault.ts'

/** The guard that all outgoing calls to addresses given by others go through. */

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
