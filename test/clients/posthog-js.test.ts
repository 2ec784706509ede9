import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { missing, openBrowser, openSite, type Site, slowestMs } from './browser.ts'
import { type Gate, jsonOf, openGate } from './gate.ts'
import { type Served, startServe } from './served.ts'

// The library that pages send with, unmodified, in a real browser, against a server of another origin.

if (missing !== null) console.warn(`\n  SKIPPED: the tests of posthog-js. ${missing}\n`)

const gzipMark = '1f8b'

/** What of the library the pages use. */
interface Client {
  capture(event: string, properties?: object): void
  identify(id: string, set: object, setOnce: object): void
  group(type: string, key: string, properties: object): void
  get_distinct_id(): string
  opt_out_capturing(): void
  opt_in_capturing(): void
}
/** Inside the page. */
declare const window: { posthog: Client; isLoaded?: boolean }

describe.skipIf(missing !== null)('posthog-js', () => {
  let served: Served
  let browser: Browser
  let gate: Gate
  let site: Site
  let context: BrowserContext
  let page: Page
  const complaints: string[] = []

  beforeAll(async () => {
    ;[served, browser] = await Promise.all([startServe(), openBrowser()])
  })
  afterAll(async () => {
    await browser.close()
    await served.stop()
  })

  beforeEach(async () => {
    complaints.length = 0
    gate = await openGate(served.url)
    site = await openSite(gate.url, served.projectKey)
    context = await browser.newContext()
    context.setDefaultTimeout(slowestMs)
    page = await context.newPage()
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(`${site.url}/?utm_source=news`)
    await page.waitForFunction(() => window.isLoaded)
  })
  afterEach(async () => {
    await context.close()
    await Promise.all([site.close(), gate.close()])
    expect(complaints, 'what the page logged').toEqual([])
    expect(served.complaints, 'what the server complained of').toEqual([])
    expect(await served.strangeFields(), 'fields that nobody knows').toEqual([])
    expect(
      gate.passed.filter(({ status }) => status === null || status >= 400).map(({ method, path, status }) => [method, path, status]),
    ).toEqual([])
  })

  const idOf = () => page.evaluate(() => window.posthog.get_distinct_id())
  /** Waits until an event of that name is acknowledged. */
  const arrived = (name: string) =>
    expect
      .poll(
        () =>
          gate
            .sends()
            .filter(({ status }) => status !== null && status < 300)
            .flatMap(namesOf),
        { timeout: 60_000, interval: 50 },
      )
      .toContain(name)
  const eventsOf = (id: string, columns: string, name: string) =>
    served.rows(`select ${columns} from events where distinct_id = '${id}' and event = '${name}' order by timestamp`)

  test('a page view, a click nobody coded for, and an event of the page’s own', async () => {
    await page.click('#buy')
    await page.evaluate(() => window.posthog.capture('added to cart', { price: 3 }))
    for (const name of ['$pageview', '$autocapture', 'added to cart']) await arrived(name)
    const id = await idOf()
    expect(await eventsOf(id, 'properties.$current_url, properties.utm_source, properties.$lib, properties.$browser', '$pageview')).toEqual(
      [[`${site.url}/?utm_source=news`, 'news', 'web', 'Chrome']],
    )
    const [[chain, kind] = []] = await eventsOf(id, 'elements_chain, properties.$event_type', '$autocapture')
    expect(kind).toBe('click')
    expect(chain).toMatch(/^button[.:].*text="Buy it"/)
    expect(await eventsOf(id, 'properties.price, notEmpty($session_id)', 'added to cart')).toEqual([['3', expect.toBeOneOf([1, true])]])
    const views = await served.query({
      kind: 'EventsQuery',
      select: ['event', 'properties.$pathname'],
      where: [`distinct_id = '${id}'`],
      event: '$pageview',
    })
    expect(views.results).toEqual([['$pageview', '/']])
    expect(gate.sends().map(({ body }) => body.subarray(0, 2).toString('hex'))).toEqual(gate.sends().map(() => gzipMark))
  })

  test('what was done before signing in belongs to the person who then signs in', async () => {
    await page.evaluate(() => window.posthog.capture('looked around'))
    const anonymous = await idOf()
    await page.evaluate(() => window.posthog.identify('ada@example.org', { name: 'Ada' }, { first_page: '/' }))
    await page.evaluate(() => window.posthog.capture('signed in'))
    for (const name of ['looked around', '$identify', 'signed in']) await arrived(name)
    const persons = await served.rows(
      `select event, distinct_id, person_id, person.properties.name, person.properties.first_page from events where event in ('looked around', 'signed in') and distinct_id in ('${anonymous}', 'ada@example.org') order by event`,
    )
    expect(persons.map(([event, id]) => [event, id])).toEqual([
      ['looked around', anonymous],
      ['signed in', 'ada@example.org'],
    ])
    expect(new Set(persons.map((row) => row[2])).size).toBe(1)
    const actors = await served.query({
      kind: 'ActorsQuery',
      select: ['properties.name', 'properties.first_page'],
      search: 'ada@example.org',
    })
    expect(actors.results).toEqual([['Ada', '/']])
    expect(await served.rows("select is_identified from persons where properties.name = 'Ada'")).toEqual([[expect.toBeOneOf([1, true])]])
  })

  test('a visitor who never signs in is no person', async () => {
    await page.evaluate(() => window.posthog.capture('passed by'))
    await arrived('passed by')
    const id = await idOf()
    expect(await eventsOf(id, 'event', 'passed by')).toEqual([['passed by']])
    expect(
      await served.rows(`select count() from persons where id in (select person_id from person_distinct_ids where distinct_id = '${id}')`),
    ).toEqual([[0]])
  })

  test('events after group() carry the group', async () => {
    await page.evaluate(() => {
      window.posthog.group('company', 'acme', { size: 40 })
      window.posthog.capture('met')
    })
    for (const name of ['$groupidentify', 'met']) await arrived(name)
    expect(await eventsOf(await idOf(), '$group_0', 'met')).toEqual([['acme']])
    expect(await served.rows('select key, properties.size from groups where index = 0')).toEqual([['acme', '40']])
  })

  test('nothing is sent after opting out, until opting in again', async () => {
    await arrived('$pageview')
    await page.evaluate(() => {
      window.posthog.opt_out_capturing()
      window.posthog.capture('in secret')
    })
    await page.click('#buy')
    await page.evaluate(() => {
      window.posthog.opt_in_capturing()
      window.posthog.capture('in public')
    })
    await arrived('in public')
    const names = gate.sends().flatMap(namesOf)
    expect(names).not.toContain('in secret')
    expect(names).not.toContain('$autocapture')
    expect(await served.rows("select count() from events where event = 'in secret'")).toEqual([[0]])
  })

  // When the client's own timer sends just as the page is left, the browser cuts that request and there is no beacon: then once more.
  test('what waits when a page is left goes out with a beacon', { retry: 2 }, async () => {
    await arrived('$pageview')
    const id = await idOf()
    await page.evaluate(() => window.posthog.capture('last words'))
    await page.click('a')
    await page.waitForFunction(() => window.isLoaded)
    for (const name of ['last words', '$pageleave']) await arrived(name) // in one beacon or in two
    const beacon = gate.sends().find((one) => namesOf(one).includes('$pageleave'))!
    expect(beacon.headers['content-type']).toBe('text/plain') // nothing that a browser would have to ask leave for
    expect(await eventsOf(id, 'event', 'last words')).toEqual([['last words']])
    expect(await eventsOf(id, 'properties.$pathname', '$pageleave')).toEqual([['/']])
  })
})

/** Names of the events in a request. */
const namesOf = (one: Parameters<typeof jsonOf>[0]): string[] => {
  const body = jsonOf(one) as { event?: string; batch?: { event: string }[] } | { event: string }[]
  const events = Array.isArray(body) ? body : (body.batch ?? [body as { event: string }])
  return events.map(({ event }) => event)
}
