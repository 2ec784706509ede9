import { expect, test } from 'vitest'
import { allowedAddresses } from '../../../src/service/network/allowed-addresses.ts'
import { webhookRefusal } from '../../../src/service/notifications/targets.ts'

// Which webhooks are refused when they are saved: what is known without a lookup. A lookup would tell which names the network of this server has.

const publicOnly = allowedAddresses(() => false)
const network = {
  mustBeAllowed: publicOnly.mustBeAllowed,
  lookup: () => {
    throw new Error('A name was looked up.')
  },
}
const said = (address: string) => webhookRefusal(address, network)

test.each(['https://hooks.example.com/in', 'http://hooks.invalid/in', 'https://database.internal:8123/', 'http://8.8.8.8/in'])(
  '%s is taken, whatever its name resolves to',
  (address) => expect(said(address)).toBeNull(),
)

test.each([
  'http://127.0.0.1/in',
  'http://127.1/in',
  'http://0x7f000001/in',
  'http://2130706433/in',
  'http://127.0.0.1./in',
  'http://localhost:9/in',
  'http://me.localhost./in',
  'http://[::1]/in',
  'http://[::ffff:10.0.0.1]/in',
  'http://169.254.169.254/latest',
])('%s is refused: its address is known', (address) => expect(said(address)).toMatch(/only to public addresses/))

test.each([
  'ftp://example.com/',
  'https:///',
  'https://a:b@example.com/',
  'https://exa\nmple.com/',
  'https://example.com/a b',
  'https://example.com/\t',
  ' https://example.com/',
])('%j is refused: it is no address of a webhook', (address) => expect(said(address)).toMatch(/^Expected an http or https address/))
