import { readFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { missing, openBrowser, slowestMs } from './browser.ts'
import { type Served, startServe } from './served.ts'

// The examples of docs/posthog-js.md in a real browser that does not say that a program steers it.

if (missing !== null) console.warn(`\n  SKIPPED: the examples of docs/posthog-js.md. ${missing}\n`)

const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

declare const window: {
  posthog: { capture(event: string): void; __loaded?: boolean }
  waymark?: { q?: unknown[] }
  localStorage: { length: number }
}

describe.skipIf(missing !== null)('examples', () => {
  let served: Served
  let browser: Browser
  let context: BrowserContext
  let page: Page
  const complaints: string[] = []
  const servers: Server[] = []
  const listen = async (server: Server): Promise<string> => {
    servers.push(server)
    await new Promise<void>((resolve) => (server.listening ? resolve() : server.listen(0, '127.0.0.1', resolve)))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const close = (all: Server[]) =>
    Promise.all(
      all.splice(0).map((server) => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      }),
    )
  let examples: { html: string[]; js: string[] }

  beforeAll(async () => {
    const text = await readFile(join(import.meta.dirname, '../../docs/posthog-js.md'), 'utf8')
    const blocks = (kind: string) => [...text.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code]) => code!)
    examples = { html: blocks('html'), js: blocks('js') }
    ;[served, browser] = await Promise.all([startServe({ args: ['--trusted-proxies', '127.0.0.1'] }), openBrowser({ isVisitor: true })])
  })
  afterAll(async () => {
    await browser.close()
    await served.stop()
  })
  afterEach(async () => {
    await context.close()
    await close(servers)
    expect(complaints.splice(0), 'what the page logged').toEqual([])
    expect(served.complaints).toEqual([])
  })

  /** The example with the address and the key of the server. */
  const real = (example: string, host = served.url) =>
    example.replaceAll('https://analytics.example.com', host).replaceAll('phc_…', served.projectKey)
  const snippet = () => examples.html[0]!
  /** The snippet, which begins in the way of another example. */
  const begun = (example: string) => snippet().replace(/\n {2}posthog\.init.*\n/, '\n') + example
  const visit = async (head: string) => {
    const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,"></head><body>${head}</body></html>`
    const url = await listen(
      createServer((_, response) => {
        response.setHeader('content-type', 'text/html')
        response.end(html)
      }),
    )
    context = await browser.newContext({ userAgent: chrome })
    context.setDefaultTimeout(slowestMs)
    page = await context.newPage()
    page.on('console', (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(url)
    return `properties.$host = '${new URL(url).host}'`
  }
  const isLoaded = () => page.waitForFunction(() => window.posthog.__loaded === true)
  const stored = (where: string) =>
    expect
      .poll(async () => Number((await served.rows(`select count() from events where ${where}`))[0]![0]), { timeout: 60_000, interval: 200 })
      .toBeGreaterThan(0)

  test('HTML: a call before the library has arrived is kept', async () => {
    const here = await visit(`${real(snippet())}<script>posthog.capture('early')</script>`)
    await isLoaded()
    await stored(`event = 'early' and ${here}`)
    await stored(`event = '$pageview' and ${here}`)
  })

  test('consent: nothing before it, events after it', async () => {
    const consent = examples.html.find((one) => one.includes('opt_out_capturing_by_default'))!
    const here = await visit(real(begun(consent)))
    await isLoaded()
    await page.evaluate(() => window.posthog.capture('before'))
    await page.getByRole('button', { name: 'Agree' }).click()
    await page.evaluate(() => window.posthog.capture('after'))
    await stored(`event = 'after' and ${here}`)
    expect(await served.rows(`select count() from events where event = 'before' and ${here}`)).toEqual([[0]])
  })

  test('without cookies: the browser keeps nothing', async () => {
    const cookieless = examples.html.find((one) => one.includes('cookieless_mode'))!
    const here = await visit(real(begun(cookieless)))
    await isLoaded()
    await page.evaluate(() => window.posthog.capture('unknown'))
    await stored(`event = 'unknown' and distinct_id like 'cookieless%' and ${here}`)
    expect([await context.cookies(), await page.evaluate(() => window.localStorage.length)]).toEqual([[], 0])
  })

  test('page views only, with events by attribute and by call', async () => {
    const [tag, events] = examples.html.slice(-2)
    const here = await visit(real(tag!) + real(events!))
    await page.getByRole('button', { name: 'Sign up' }).click()
    await stored(`event = '$pageview' and ${here}`)
    await stored(`event = 'price seen' and properties.currency = 'EUR' and ${here}`)
    await page.waitForFunction(() => window.waymark !== undefined && !window.waymark.q)
    await page.getByRole('button', { name: 'Sign up' }).click()
    await stored(`event = 'signed up' and properties.plan = 'pro' and ${here}`)
  })

  test('the proxy in Node: events, and the address of the visitor', async () => {
    const code = examples.js
      .find((one) => one.includes('createServer'))!
      .replace(/^import .*\n/, '')
      .replace('http://127.0.0.1:8000', served.url)
      .replace('.listen(8080)', '')
    const made: Server[] = []
    new Function('createServer', 'request', code)((listener: Parameters<typeof createServer>[1]) => {
      const server = createServer(listener as never)
      made.push(server)
      return server
    }, request)
    const proxy = await listen(made[0]!)
    const here = await visit(real(snippet(), `${proxy}/ingest`))
    await isLoaded()
    await page.evaluate(() => window.posthog.capture('by proxy'))
    await stored(`event = 'by proxy' and ${here} and properties.$ip = '127.0.0.1'`)
  })
})
