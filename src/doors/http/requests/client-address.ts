import { isIP } from 'node:net'
import { type Networks, ownNetworks } from '../../../lib/web/networks.ts'

// The address of a caller, for rate limits.

const listed = (headers: Headers): string[] =>
  (headers.get('x-forwarded-for') ?? '')
    .slice(-1000)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => isIP(part) > 0)

/**
 * Behind a trusted proxy: the last address of `X-Forwarded-For` that is not a trusted proxy; the caller controls those before it. Null if it is unknown:
 * behind an untrusted proxy, all callers would have the same address.
 */
export const clientAddress = (headers: Headers, address: string | null, trusted: Networks): string | null => {
  if (address === null || isIP(address) === 0) return null
  if (trusted.has(address)) return listed(headers).findLast((one) => !trusted.has(one)) ?? address
  return ownNetworks.has(address) && headers.has('x-forwarded-for') ? null : address
}

const groups = (address: string): number[] => {
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const parts = (text: string) => text.split(':').filter((part) => part !== '')
  const [first, last] = [parts(head), parts(tail ?? '')]
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0')
  return [...first, ...zeros, ...last].map((part) => Number.parseInt(part, 16))
}

/** Addresses that one caller may have many of count as one: an IPv6 address as its /64. And the network around it: /24, or /48. */
export const networkOf = (address: string): { readonly host: string; readonly network: string } => {
  if (isIP(address) !== 6) return { host: address, network: `${address.split('.').slice(0, 3).join('.')}.0/24` }
  const hex = groups(address).map((part) => part.toString(16))
  return { host: `${hex.slice(0, 4).join(':')}::/64`, network: `${hex.slice(0, 3).join(':')}::/48` }
}
