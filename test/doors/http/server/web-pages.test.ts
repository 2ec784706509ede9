import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createWebPages } from '../../../../src/doors/http/server/web-pages.ts'
import { program } from '../../../harness/programs.ts'

const built = createWebPages(`${join(dirname(program('cli')), 'web')}/`)
const asked = (headers: Record<string, string>) => new Request('http://waymark.test/', { headers })

test('the page names its files; each is there, compressed as the browser takes it, for good', async () => {
  const page = await built.front(asked({ accept: 'text/html,*/*;q=0.8' }))
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'nonce-[\w+/=]{24}'; style-src 'self'; /)
  expect(page.headers.get('cache-control')).toBe('no-cache')
  const html = await page.text()
  const [, nonce] = /'nonce-([^']+)'/.exec(page.headers.get('content-security-policy')!)!
  const scripts = [...html.matchAll(/<(script|link rel="modulepreload")[^>]*>/g)].map(([tag]) => tag)
  expect(scripts.length).toBeGreaterThan(0)
  for (const tag of scripts) expect(tag).toContain(` nonce="${nonce}"`)
  expect(await (await built.front(asked({ accept: 'text/html' }))).text(), 'another one each time').not.toContain(nonce)
  expect(html).not.toMatch(/<script(?![^>]*src=)|style=|https?:/)
  const names = [...html.matchAll(/assets\/([\w.-]+)/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(1)
  for (const name of names) {
    const plain = (await built.asset(asked({}), name))!
    const text = Buffer.from(await plain.arrayBuffer())
    expect([plain.headers.get('content-encoding'), plain.headers.get('cache-control')]).toEqual([
      null,
      'public, max-age=31536000, immutable',
    ])
    // A font is compressed already, and what is small is larger when it is compressed.
    if (name.endsWith('.woff2') || text.length < 1024) continue
    const brotli = (await built.asset(asked({ 'accept-encoding': 'gzip, deflate, br' }), name))!
    expect(brotli.headers.get('content-encoding')).toBe('br')
    expect(brotliDecompressSync(Buffer.from(await brotli.arrayBuffer())).equals(text)).toBe(true)
    const zipped = (await built.asset(asked({ 'accept-encoding': 'gzip' }), name))!
    expect(gunzipSync(Buffer.from(await zipped.arrayBuffer())).equals(text)).toBe(true)
  }
})

test.each(['../index.html', '..%2findex.html', 'index.html', '.', '..', 'nothing.js', 'x/../y.js', '', 'a\u0000.js'])(
  'no file %j',
  async (name) => {
    expect(await built.asset(asked({}), name)).toBeNull()
  },
)

test('without the interface a page says how to send and to ask; programs get JSON', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-web-'))
  const pages = createWebPages(`${folder}/`)
  const page = await (await pages.front(asked({ accept: 'text/html' }))).text()
  expect(page).toContain('curl http://waymark.test/capture/')
  const answer = await (await built.front(asked({}))).text()
  expect(JSON.parse(answer)).toMatchObject({ name: 'Waymark', api: '/openapi.json' })
  // The package is in no registry: its name there is free for anybody.
  expect(page + answer).not.toContain('npmjs')
  await rm(folder, { recursive: true })
})
