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

/** Addresses of one link, and the metadata services of clouds, also those that have other addresses (AWS, Google, Scaleway, Azure, Alibaba, Oracle). */
export const linkLocalNetworks = networksOf([
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::254',
  'fd00:42::42',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
])

/** Without the interface that a link-local address may name: `fe80::1%eth0`. */
export const withoutZone = (address: string): string => address.split('%', 1)[0]!

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = withoutZone(address).split('::')
  const numbers = (part: string): number[] =>
    part === ''
      ? []
      : part.split(':').flatMap((group) => {
          if (!group.includes('.')) return [Number.parseInt(group, 16)]
          const [a, b, c, d] = group.split('.').map(Number) as [number, number, number, number]
          return [a * 256 + b, c * 256 + d]
        })
  const [first, last] = [numbers(head), tail === undefined ? [] : numbers(tail)]
  return [...first, ...Array<number>(Math.max(0, 8 - first.length - last.length)).fill(0), ...last]
}

/** IPv4 addresses that an IPv6 address stands for, for gateways and for tunnels: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP. */
export function embeddedIpv4(address: string): readonly string[] {
  if (isIP(address) !== 6) return []
  const g = groupsOf(address)
  const at = (i: number, flip = 0) => [g[i]! >> 8, g[i]! & 255, g[i + 1]! >> 8, g[i + 1]! & 255].map((byte) => byte ^ flip).join('.')
  const isZero = (from: number, to: number) => g.slice(from, to).every((one) => one === 0)
  const found: string[] = []
  if (isZero(0, 6) || (isZero(0, 5) && g[5] === 0xffff) || (isZero(0, 4) && g[4] === 0xffff && g[5] === 0)) found.push(at(6))
  if (g[0] === 0x64 && g[1] === 0xff9b) found.push(at(6), ...[at(3), `${g[3]! >> 8}.${g[3]! & 255}.${g[4]! & 255}.${g[5]! >> 8}`])
  if (g[0] === 0x2002) found.push(at(1))
  if (g[0] === 0x2001 && g[1] === 0) found.push(at(2), at(6, 255))
  if ((g[4] === 0 || g[4] === 0x200) && g[5] === 0x5efe) found.push(at(6))
  return found
}

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
