import { BlockList, isIP } from 'node:net'

/** A set of IP networks. */
export interface Networks {
  has(address: string): boolean
}

/** `10.0.0.0/8`, `::1`, `192.168.1.7`: null for an invalid address or network. */
const parsed = (text: string): { readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' } | null => {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return null
  const most = version === 4 ? 32 : 128
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most)) return null
  return { address, bits: bits === undefined ? most : Number(bits), family: version === 4 ? 'ipv4' : 'ipv6' }
}

export const isNetwork = (text: string): boolean => parsed(text) !== null

export const networksOf = (texts: readonly string[]): Networks => {
  const list = new BlockList()
  for (const text of texts) {
    const network = parsed(text)
    if (!network) throw new TypeError(`${text} is neither an address nor a network like 10.0.0.0/8`)
    list.addSubnet(network.address, network.bits, network.family)
  }
  return {
    has: (address) => {
      const version = isIP(address)
      return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
    },
  }
}

/** Addresses of one link, among them the metadata services of clouds. */
export const linkLocalNetworks = networksOf(['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254'])

/** Addresses that are valid only inside a machine or its own network. */
export const ownNetworks = networksOf([
  '0.0.0.0/8',
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '::1',
  'fc00::/7',
  'fe80::/10',
])
