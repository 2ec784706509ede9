import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { WaymarkError } from '../../errors/errors.ts'
import { embeddedIpv4, linkLocalNetworks, networksOf, ownNetworks, withoutZone } from '../../lib/web/networks.ts'

export interface AllowedAddresses {
  /** For `net.connect` and what builds on it: the check and the connection use the same address. */
  readonly lookup: LookupFunction
  /** For hosts whose address is known without a lookup: what is saved is checked by it, and what is sent. */
  mustBeAllowed(host: string): void
}

const refusal = (host: string, address: string) => new WaymarkError('private-address', { host, address })

/** Addresses that reach this machine or its network by another form: unspecified, of a carrier, translated from IPv4, for many receivers. */
const specialNetworks = networksOf([
  '::',
  '100.64.0.0/10',
  '192.0.0.0/24',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '64:ff9b::/32',
  '2002::/16',
  '2001::/32',
  'fec0::/10',
  'ff00::/8',
])

/** The address that a host is without a lookup, in whatever form it is written: `127.1`, `0x7f000001`, `127.0.0.1.`, `localhost`. Any other name stays. */
function addressOf(host: string): string {
  const plain = host.replace(/^\[|\]$/g, '')
  if (isIP(plain) !== 0) return plain
  if (/^(?:.+\.)?localhost\.?$/i.test(plain)) return '127.0.0.1'
  const written = URL.canParse(`http://${plain}`) ? new URL(`http://${plain}`).hostname : plain
  return isIP(written) === 0 ? plain : written
}

/**
 * Which addresses this server connects to on behalf of its users. Services of a cloud, which hand out credentials, have link-local addresses: those are
 * never allowed.
 */
export function allowedAddresses(allowsPrivate: () => boolean): AllowedAddresses {
  const isNever = (address: string) => linkLocalNetworks.has(address)
  const isPrivate = (address: string) => ownNetworks.has(address) || specialNetworks.has(address)
  const isRefused = (given: string) => {
    const address = withoutZone(given)
    const all = [address, ...embeddedIpv4(address)]
    return all.some(isNever) || (!allowsPrivate() && all.some(isPrivate))
  }
  return {
    lookup: (hostname, options, callback) => {
      systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, '', 0)
        const refused = addresses.find(({ address }) => isRefused(address))
        if (refused) return callback(refusal(hostname, refused.address), '', 0)
        if (options.all) return callback(null, addresses)
        const [first] = addresses
        callback(null, first!.address, first!.family)
      })
    },
    mustBeAllowed(host) {
      const address = addressOf(host)
      if (isIP(address) !== 0 && isRefused(address)) throw refusal(isIP(host.replace(/^\[|\]$/g, '')) === 0 ? host : address, address)
    },
  }
}
