import { lookup } from 'node:dns'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { allowedAddresses } from '../../../src/service/network/allowed-addresses.ts'
import { createOutbound } from '../../../src/service/plugins/outbound.ts'

// Which addresses this server connects to for its users. `never`: not even where the operator allows private ones. One table for every way to write an address.

type Verdict = 'never' | 'private' | 'public'
const rows: [address: string, verdict: Verdict][] = [
  // Metadata services.
  ['169.254.169.254', 'never'],
  ['169.254.170.2', 'never'],
  ['fd00:ec2::254', 'never'],
  ['fd00:ec2::23', 'never'],
  ['fd20:ce::254', 'never'],
  ['fd00:42::42', 'never'],
  ['168.63.129.16', 'never'],
  ['100.100.100.200', 'never'],
  ['192.0.0.192', 'never'],
  ['fe80::1', 'never'],
  ['fe80::a9fe:a9fe%eth0', 'never'],
  // The same inside of IPv6: mapped, compatible, translated, NAT64 (well known, and of a site), 6to4, Teredo, ISATAP.
  ['::ffff:169.254.169.254', 'never'],
  ['::ffff:a9fe:a9fe', 'never'],
  ['0:0:0:0:0:FFFF:A9FE:A9FE', 'never'],
  ['::169.254.169.254', 'never'],
  ['::ffff:0:169.254.169.254', 'never'],
  ['64:ff9b::169.254.169.254', 'never'],
  ['64:ff9b::a9fe:a9fe', 'never'],
  ['64:ff9b:1::a9fe:a9fe', 'never'],
  ['64:ff9b:1:a9fe:a9:fe00::', 'never'],
  ['2002:a9fe:a9fe::1', 'never'],
  ['2001:0:a9fe:a9fe::', 'never'],
  ['2001:0:808:808::5601:5601', 'never'],
  ['2a00:1::5efe:169.254.169.254', 'never'],
  ['2a00:1::200:5efe:a9fe:a9fe', 'never'],
  ['::ffff:168.63.129.16', 'never'],
  // Own networks.
  ['127.0.0.1', 'private'],
  ['127.255.255.254', 'private'],
  ['0.0.0.0', 'private'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['198.18.0.1', 'private'],
  ['224.0.0.1', 'private'],
  ['255.255.255.255', 'private'],
  ['::', 'private'],
  ['::1', 'private'],
  ['0:0:0:0:0:0:0:1', 'private'],
  ['fc00::1', 'private'],
  ['fd12:3456::1', 'private'],
  ['fec0::1', 'private'],
  ['ff02::1', 'private'],
  ['::ffff:127.0.0.1', 'private'],
  ['::ffff:7f00:1', 'private'],
  ['::127.0.0.1', 'private'],
  ['::ffff:0:10.0.0.1', 'private'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['64:ff9b::8.8.8.8', 'private'],
  ['64:ff9b:1::8.8.8.8', 'private'],
  ['2002:7f00:1::', 'private'],
  ['2002:808:808::', 'private'],
  ['2001::1', 'private'],
  ['2a00:1::5efe:127.0.0.1', 'private'],
  // Others.
  ['8.8.8.8', 'public'],
  ['169.253.255.255', 'public'],
  ['172.32.0.1', 'public'],
  ['168.63.129.17', 'public'],
  ['2606:4700::1111', 'public'],
  ['::ffff:8.8.8.8', 'public'],
  ['2001:4860:4860::8888', 'public'],
  ['fd00::', 'private'],
]
const allows = (address: string, allowsPrivate: boolean): boolean => {
  const { mustBeAllowed } = allowedAddresses(() => allowsPrivate)
  try {
    mustBeAllowed(address.includes(':') ? `[${address}]` : address)
    return true
  } catch {
    return false
  }
}
const verdictOf = (address: string): Verdict => (allows(address, false) ? 'public' : allows(address, true) ? 'private' : 'never')

test.each(rows)('%s: %s', (address, verdict) => {
  expect(verdictOf(address)).toBe(verdict)
})

describe('names and other spellings', () => {
  // What the system makes of them is checked, and that address is connected to: a name has no second answer (DNS rebinding).
  test.each(['localhost', 'localhost.', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0', '0x7f.1'])('%s', async (host) => {
    const { lookup: checked } = allowedAddresses(() => false)
    const resolved = await new Promise<unknown>((done) => lookup(host, (error, address) => done(error ?? address)))
    const answer = await new Promise<unknown>((done) => checked(host, {}, (error, address) => done(error ?? address)))
    expect(answer, `${host} is ${resolved}`).toBeInstanceOf(Error)
  })

  const outbound = createOutbound(allowedAddresses(() => false))
  const ask = (url: string) => outbound({ url, method: 'GET', headers: {}, body: null }, AbortSignal.timeout(5_000))
  test.each([
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127.0.0.1./',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[::]/',
    'http://localhost/',
    'http://LOCALHOST/',
  ])('%s is not fetched', async (url) => {
    await expect(ask(url)).rejects.toMatchObject({ code: 'private-address' })
  })

  test('a redirect is checked like the first address', async () => {
    const server = createServer((_, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end())
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const own = createOutbound(allowedAddresses(() => true))
    await expect(own({ url, method: 'GET', headers: {}, body: null }, AbortSignal.timeout(5_000))).rejects.toMatchObject({
      code: 'private-address',
    })
    await new Promise((closed) => server.close(closed))
  })
})
