import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.parse>

/** A block of addresses in CIDR notation: `10.1.0.0/16`, `fd00::/8`. */
export type AddressBlock = readonly [network: Address, prefixLength: number]

/** Reads `10.0.0.0/8`; throws when a block is misspelled, because a misread one would open the wrong door. */
export function addressBlocks(notations: readonly string[]): readonly AddressBlock[] {
  return notations.map((notation) => ipaddr.parseCIDR(notation))
}

/**
 * Whether an address lies in the public internet, or in a block that the operator of this service has opened.
 * IPv6 addresses that carry an IPv4 address (mapped, NAT64, 6to4, Teredo) are refused, for whoever translates
 * them may reach inside.
 */
export function isPublicAddress(text: string, allow: readonly AddressBlock[] = []): boolean {
  const address = parse(text)
  if (!address) return false
  if (allow.some((block) => lies(address, block))) return true
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || lies(address, globalUnicast)
}

/**
 * RFC 4291: only this part of IPv6 is given out; the rest holds IPv4-compatible addresses and what is not
 * assigned yet.
 */
const globalUnicast: AddressBlock = ipaddr.parseCIDR('2000::/3')

/**
 * Only the four decimal numbers and the usual spelling of IPv6 are read; a zone (`%eth0`) names a link of
 * this machine.
 */
function parse(text: string): Address | undefined {
  if (text.includes('%')) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined
}

function lies(address: Address, [network, prefixLength]: AddressBlock): boolean {
  if (address instanceof ipaddr.IPv4)
    return network instanceof ipaddr.IPv4 && address.match(network, prefixLength)
  return network instanceof ipaddr.IPv6 && address.match(network, prefixLength)
}
