import { describe, expect, test } from 'vitest'
import { parsedUrl } from '../../../src/lib/web/parsed-url.ts'

/** Combining characters in an order that normalizing reverses: parsing a host of them takes minutes. */
const slow = '\u0315'.repeat(500_000) + '\u0300'.repeat(500_000)
const long = 'a'.repeat(301)

describe('URLs from outside', () => {
  test.each([
    ['https://shop.example:8080/a?b#c', 'shop.example:8080'],
    ['https://bücher.example/', 'xn--bcher-kva.example'],
    ['http://[2001:db8::1]/', '[2001:db8::1]'],
    [`https://shop.example/${slow}`, 'shop.example'],
    [`https://shop.example?${slow}`, 'shop.example'],
    [`https://${long}:${long}@shop.example/`, 'shop.example'],
    [
      `https://${'a'.repeat(50)}.${'b'.repeat(50)}.${'c'.repeat(50)}.${'d'.repeat(50)}.example/`,
      expect.stringMatching(/^a{50}\..*example$/),
    ],
    ['about:blank', ''],
    [`data:text/html,${slow}`, ''],
  ])('%.60j has the host %j', (text, host) => expect(parsedUrl(text)?.host).toEqual(host))

  test.each([
    ['', 'an empty text'],
    ['no address', 'a text without a scheme'],
    [`http://a${slow}/`, 'a host that takes long to normalize'],
    [`http://a${encodeURIComponent(slow)}`, 'such a host with percent signs'],
    [`HTTP:a${slow}`, 'such a host without slashes'],
    [`\n ht\ttp:\\\\a${slow}\\b`, 'such a host with everything that parsers forgive'],
    [`ws://user:pass@a${slow}?b`, 'such a host after a user'],
    [`file:////a${slow}`, 'such a host of a file'],
    [`http://${long}/`, 'a host that is longer than any name'],
  ])('%.60j is null: %s', (text) => expect(parsedUrl(text)).toBeNull())

  test('a relative one has the host of its base, or one of its own', () => {
    const base = new URL('https://shop.example/a/b')
    expect(parsedUrl(`../${long}`, base)?.href).toBe(`https://shop.example/${long}`)
    expect(parsedUrl('//other.example/c', base)?.href).toBe('https://other.example/c')
    expect(parsedUrl(`//a${slow}`, base)).toBeNull()
    expect(parsedUrl('http://[', base)).toBeNull()
  })
})
