import type { IncomingMessage } from 'node:http'
import proxyAddress from 'proxy-addr'

export type ClientAddress = (request: IncomingMessage) => string | undefined

/**
 * Whoever really asks: `X-Forwarded-For` is read from the right for as long as those who have written it are
 * trusted. What stands further left was written by anybody.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return (request) =>
    request.socket.remoteAddress === undefined ? undefined : proxyAddress(request, isTrusted)
}
