import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface ResolverOptions {
  /** Time-out of one query to one server; the next try waits twice as long. */
  readonly timeoutMs: number
  readonly tries: number
  /** `host:port`; left out, those of the system. */
  readonly servers?: readonly string[]
}

/** RFC 8305: after one family has answered, the other has this long. */
const resolutionDelayMs = 50

/**
 * Resolves names over sockets of its own, so that slow DNS servers hold up nobody else: the system's look-up
 * occupies one of four threads. It ignores /etc/hosts and search domains, which no public name needs.
 */
export function dnsLookup({ timeoutMs, tries, servers }: ResolverOptions): LookupFunction {
  const resolver = new Resolver({ timeout: timeoutMs, tries })
  if (servers) resolver.setServers([...servers])
  return (hostname, { all, family }, callback) => {
    addressesOf(resolver, hostname, family).then(
      (found) => (all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}

/** IPv4 first; rejects with the resolver's error when there is no address. */
async function addressesOf(
  resolver: Resolver,
  hostname: string,
  family: number | 'IPv4' | 'IPv6' = 0,
): Promise<LookupAddress[]> {
  const v4 = async () => (await resolver.resolve4(hostname)).map((address) => ({ address, family: 4 }))
  const v6 = async () => (await resolver.resolve6(hostname)).map((address) => ({ address, family: 6 }))
  if (family === 4 || family === 'IPv4') return v4()
  if (family === 6 || family === 'IPv6') return v6()
  const asked = [v4(), v6()]
  await Promise.any(asked).catch(() => undefined)
  const late = new AbortController()
  const [four, six] = await Promise.all(asked.map((one) => inTime(one, late.signal)))
  late.abort()
  const found = [...(four ?? []), ...(six ?? [])]
  // Why there is none: of two different answers, the one for IPv4 says more.
  return found.length > 0 ? found : asked[0]!
}

function inTime<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer | undefined> {
  const late = pause(resolutionDelayMs, undefined, { signal })
  return Promise.race([answer, late]).catch(() => undefined)
}
