import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { missing, openBrowser, slowestMs } from './browser.ts'
import { type Gate, openGate } from './gate.ts'
import { type Served, startServe } from './served.ts'

// The script for page views, in a real browser that does not say that a program steers it.

if (missing !== null) console.warn(`\n  SKIPPED: the script for page views. ${missing}\n`)

const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

declare const window: {
  waymark?: { q?: unknown[] } & ((event: string, properties?: object) => void)
  localStorage: { length: number }
  sessionStorage: { length: number }
  posthog: unknown
  isLoaded?: boolean
}
declare const history: {
  pushState(state: null, title: string, url: string): void
  replaceState(state: null, title: string, url: string): void
  back(): void
}

const inBody = `
<a id="out" href="https://other.example/page?a=1">Out</a>
<a id="in" href="/inside" onclick="event.preventDefault()"><b id="deep">In</b></a>
<button id="buy" data-waymark-event="bought" data-waymark-plan="pro" data-waymark-order-id="7"><span id="inner">Buy</span></button>
<form id="form" data-waymark-event="asked" data-waymark-topic="price" onsubmit="event.preventDefault()"><input name="secret" value="not sent"><button id="send">Send</button></form>`

describe.skipIf(missing !== null)('the script for page views', () => {
  let served: Served
  let browser: Browser
  let gate: Gate
  let context: BrowserContext
  let page: Page
  let site: { url: string; html: string; close(): Promise<void> }
  const complaints: string[] = []

  beforeAll(async () => {
    ;[served, browser] = await Promise.all([startServe(), openBrowser({ isVisitor: true })])
  })
  afterAll(async () => {
    await browser.close()
    await served.stop()
  })
  beforeEach(async () => {
    gate = await openGate(served.url)
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(site.html)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    site = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      html: '',
      close: () =>
        new Promise((resolve) => {
          server.closeAllConnections()
          server.close(() => resolve())
        }),
    }
  })
  afterEach(async () => {
    await context.close()
    await Promise.all([site.close(), gate.close()])
    expect(complaints.splice(0), 'what the page logged').toEqual([])
    expect(served.complaints).toEqual([])
    expect(await served.strangeFields()).toEqual([])
  })

  const tag = (more = '') => `<script defer src="${gate.url}/static/waymark.js" data-key="${served.projectKey}" ${more}></script>`
  const visit = async (head: string, { path = '/', userAgent = chrome, init = '' } = {}) => {
    site.html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,">${head}</head><body>${inBody}</body></html>`
    context = await browser.newContext({ userAgent })
    context.setDefaultTimeout(slowestMs)
    if (init) await context.addInitScript(init)
    page = await context.newPage()
    await page.route('https://other.example/**', (route) => route.fulfill({ contentType: 'text/html', body: 'other' }))
    page.on('console', (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(site.url + path)
    await page.waitForFunction(() => typeof window.waymark === 'function' && !window.waymark.q)
  }
  const host = () => new URL(site.url).host
  const rows = (columns: string, where = 'true') =>
    served.rows(`select ${columns} from events where properties.$host = '${host()}' and ${where} order by timestamp, event`)
  const arrive = (count: number) => expect.poll(async () => (await rows('event')).length, { timeout: 60_000, interval: 100 }).toBe(count)

  test('page views, with what the pages for the web show, and nothing is stored in the browser', async () => {
    await visit(tag(), { path: '/first?utm_source=news&gclid=g1&token=private' })
    await arrive(1)
    const columns = [
      '$pathname',
      'title',
      '$browser',
      '$os',
      '$device_type',
      '$referring_domain',
      'utm_source',
      'gclid',
      '$lib',
      '$viewport_width',
    ]
    expect(await rows(`event, ${columns.map((name) => `properties.${name}`).join(', ')}`)).toEqual([
      ['$pageview', '/first', 'A shop', 'Chrome', 'Linux', 'Desktop', '$direct', 'news', 'g1', 'waymark.js', '1280'].map((value) =>
        expect.toSatisfy((one: unknown) => String(one) === value),
      ),
    ])
    expect(await rows('event', 'isNotNull(properties.token)')).toEqual([])
    expect(await context.cookies()).toEqual([])
    expect(await page.evaluate(() => [window.localStorage.length, window.sessionStorage.length])).toEqual([0, 0])
    const [sent] = gate.sends()
    expect([sent!.headers.cookie, sent!.path]).toEqual([undefined, '/i/v0/e/'])
    expect(gate.passed.filter(({ method }) => method === 'OPTIONS')).toEqual([])
  })

  test('a single-page application: each path once', async () => {
    await visit(tag(), { path: '/a' })
    await page.evaluate(() => {
      history.pushState(null, '', '/b')
      history.pushState(null, '', '/b?filter=1')
      history.replaceState(null, '', '/b?filter=2#x')
      history.replaceState(null, '', '/c')
    })
    await arrive(3)
    await page.evaluate(() => history.back())
    await arrive(4)
    expect((await rows('properties.$pathname')).flat().sort()).toEqual(['/a', '/b', '/b', '/c'])
  })

  test('links to other sites, and events by attribute and by call', async () => {
    await visit(
      `<script>window.waymark = window.waymark || function () { (waymark.q = waymark.q || []).push(arguments) }; waymark('early', { n: 1 })</script>${tag()}`,
    )
    await page.evaluate(() => window.waymark!('called', { plan: 'pro' }))
    await page.locator('#deep').click()
    await page.locator('#inner').click()
    await page.locator('#send').click()
    await arrive(5)
    await page.locator('#out').click()
    await page.waitForURL('https://other.example/**')
    await arrive(6)
    const found = await rows(
      'event, properties.n, properties.plan, properties.order_id, properties.topic, properties.secret, properties.$external_click_url',
    )
    const named = Object.fromEntries(found.map(([event, ...values]) => [event as string, values.map((value) => value && String(value))]))
    expect(named).toEqual({
      $pageview: [null, null, null, null, null, null],
      early: ['1', null, null, null, null, null],
      called: [null, 'pro', null, null, null, null],
      bought: [null, 'pro', '7', null, null, null],
      asked: [null, null, null, 'price', null, null],
      $autocapture: [null, null, null, null, null, 'https://other.example/page?a=1'],
    })
    const clicks = await served.query({
      kind: 'WebExternalClicksTableQuery',
      properties: [{ type: 'event', key: '$host', operator: 'exact', value: host() }],
    })
    expect(clicks.results.map(([url]) => url)).toEqual(['https://other.example/page?a=1'])
  })

  test('visitors are counted as those of posthog-js without cookies', async () => {
    await visit(
      `${tag()}<script src="${gate.url}/static/array.js"></script><script>posthog.init('${served.projectKey}', { api_host: '${gate.url}', cookieless_mode: 'always', opt_out_useragent_filter: true, request_queue_config: { flush_interval_ms: 250 }, loaded: (ph) => ph.capture('by the library') })</script>`,
    )
    await expect.poll(async () => (await rows('event', "event = 'by the library'")).length, { timeout: 60_000, interval: 100 }).toBe(1)
    await expect
      .poll(async () => (await rows('event', "properties.$lib = 'waymark.js'")).length, { timeout: 60_000, interval: 100 })
      .toBe(1)
    const found = await rows('properties.$lib, person_id, distinct_id, $session_id')
    expect(found.length).toBeGreaterThan(1)
    expect(new Set(found.map(([lib]) => lib))).toEqual(new Set(['web', 'waymark.js']))
    expect(new Set(found.map(([, ...who]) => JSON.stringify(who))).size).toBe(1)
    expect(String(found[0]![2])).toMatch(/^cookieless_/)
    expect((await served.rows('select count() from persons'))[0]).toEqual([0])
  })

  const quiet: [string, string, object, number][] = [
    [
      'Do Not Track, where the tag says so',
      'data-respect-dnt',
      { init: "Object.defineProperty(navigator, 'doNotTrack', { get: () => '1' })" },
      0,
    ],
    [
      'Global Privacy Control, where the tag says so',
      'data-respect-dnt',
      { init: "Object.defineProperty(navigator, 'globalPrivacyControl', { get: () => true })" },
      0,
    ],
    ['Do Not Track, where it does not', '', { init: "Object.defineProperty(navigator, 'doNotTrack', { get: () => '1' })" }, 1],
    ['the tag says so, and the browser does not', 'data-respect-dnt', {}, 1],
    ['a crawler', '', { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }, 0],
    ['a browser that a program steers', '', { init: "Object.defineProperty(navigator, 'webdriver', { get: () => true })" }, 0],
  ]
  test.each(quiet)('%s', async (_, more, options, views) => {
    await visit(tag(more), options)
    await page.evaluate(() => window.waymark!('said'))
    await page.locator('#buy').click()
    // The page asks for one more thing, so all that it sent before has passed.
    await page.evaluate((url) => fetch(`${url}/_livez`).then((answer) => answer.text()), gate.url)
    await arrive(views * 3)
    expect(gate.sends().length).toBe(views * 3)
  })
})
