import ipaddr from 'ipaddr.js'

export interface Network {
  readonly name: string
  /** So many times what one address may. */
  readonly times: 1 | 2 | 4
}

/**
 * What an address is counted by, the narrowest first. One device has 2^64 addresses of IPv6, one subscriber
 * 256 such networks or more, and one site 65,536: each has more than what is in it, and less than all of it.
 */
export function networksOf(address = ''): readonly [Network, ...Network[]] {
  if (!address.includes(':') || !ipaddr.isValid(address)) return [{ name: address, times: 1 }]
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return [{ name: parsed.toString(), times: 1 }]
  const [first, second, third, fourth] = parsed.parts
  const site = `${first}:${second}:${third}`
  return [
    { name: `${site}:${fourth}`, times: 1 },
    { name: `${site}:${fourth! >> 8}/56`, times: 2 },
    { name: `${site}/48`, times: 4 },
  ]
}

/** The widest: whoever shares something with others is one of them, however many addresses they have. */
export function siteOf(address = ''): string {
  return networksOf(address).at(-1)!.name
}
