import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.parse>

/** A block of addresses in CIDR notation: `10.1.0.0/16`, `fd00::/8`. */
export type AddressBlock = readonly [network: Address, prefixLength: number]

/**
 * Reads `10.0.0.0/8`; throws when a block is misspelled, because a misread one would let the wrong addresses
 * through.
 */
export function addressBlocks(notations: readonly string[]): readonly AddressBlock[] {
  return notations.map((notation) => ipaddr.parseCIDR(notation))
}

/** Short, octal and hexadecimal spellings (`10/8`, `010.0.0.1`) mean another block than people think. */
export function isAddressBlock(notation: string): boolean {
  const isPlain = !notation.includes('%') && ipaddr.IPv6.isValidCIDR(notation)
  return isPlain || ipaddr.IPv4.isValidCIDRFourPartDecimal(notation)
}

/** Whether it is an address or a block, as lists of who may use a key have them. */
export function isListable(notation: string): boolean {
  return isAddressBlock(notation) || parse(notation) !== undefined
}

/** Whether an address is among addresses and blocks. IPv4 is the same in IPv6 notation. */
export function isListed(text: string | undefined, list: readonly string[]): boolean {
  if (!text || !ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return list.some((notation) => lies(address, listed(notation)))
}

const [ipv4Bits, mappedBits] = [32, 96]

function listed(notation: string): AddressBlock {
  if (!notation.includes('/')) {
    const address = ipaddr.process(notation)
    return [address, address.kind() === 'ipv4' ? ipv4Bits : ipv4Bits + mappedBits]
  }
  const [network, bits] = ipaddr.parseCIDR(notation)
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= mappedBits
  return isMapped ? [network.toIPv4Address(), bits - mappedBits] : [network, bits]
}

/**
 * Whether an address is on the public internet or in a block that the operator of this service has allowed.
 * IPv6 addresses that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) are refused: whoever translates
 * them may reach internal addresses.
 */
export function isPublicAddress(text: string, allow: readonly AddressBlock[] = []): boolean {
  const address = parse(text)
  if (!address) return false
  if (allow.some((block) => lies(address, block))) return true
  if (address.range() !== 'unicast') return false
  if (cloudBlocks.some((block) => lies(address, block))) return false
  return address.kind() === 'ipv4' || lies(address, globalUnicast)
}

/**
 * Public-looking addresses that lead to cloud-internal services: metadata, credentials, private APIs. Those
 * of other clouds (169.254.0.0/16, 100.64.0.0/10, fc00::/7) are not unicast.
 */
const clouds = {
  'Azure: WireServer, metadata and DNS of the host': ['168.63.129.16/32'],
  'Equinix Metal: metadata': ['192.80.8.124/32', '2604:1380:2:6000::d/128'],
  'Google Cloud: its APIs, reachable from its own networks only': ['199.36.153.4/30', '199.36.153.8/30'],
  'IBM Cloud: services on its private network': ['161.26.0.0/16', '166.8.0.0/14'],
} as const

const cloudBlocks = addressBlocks(Object.values(clouds).flat())

/**
 * RFC 4291: only this part of IPv6 is assigned; the rest holds IPv4-compatible addresses and reserved space.
 */
const globalUnicast: AddressBlock = ipaddr.parseCIDR('2000::/3')

/** Only four decimal numbers, or standard IPv6 notation; a zone (`%eth0`) names a link of this machine. */
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
