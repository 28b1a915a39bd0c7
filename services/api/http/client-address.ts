import type { IncomingMessage } from 'node:http'
import proxyAddress from 'proxy-addr'

export type ClientCountry = (request: IncomingMessage) => string | null
export type ClientAddress = (request: IncomingMessage) => string | undefined

/**
 * The client's real address: `X-Forwarded-For` is read from the right as long as each proxy is trusted.
 * Anybody could have written what is further left.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return (request) =>
    request.socket.remoteAddress === undefined ? undefined : proxyAddress(request, isTrusted)
}

interface Proxies {
  readonly trustedProxies: readonly string[]
  readonly countryHeader: string | undefined
}

/** As the proxy says that the request comes from; anybody else could write anything. `XX` is nowhere. */
export function clientCountry({ trustedProxies, countryHeader }: Proxies): ClientCountry {
  if (countryHeader === undefined) return () => null
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return ({ socket: { remoteAddress = '' }, headers }) => {
    const country = String(headers[countryHeader]).toUpperCase()
    const isKnown = /^[A-Z]{2}$/.test(country) && country !== 'XX'
    return isKnown && remoteAddress !== '' && isTrusted(remoteAddress, 0) ? country : null
  }
}
