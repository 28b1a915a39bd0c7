import type { IncomingMessage } from 'node:http'
import proxyAddress from 'proxy-addr'

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
