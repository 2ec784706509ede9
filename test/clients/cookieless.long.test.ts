import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { open, toNodeHandler, type Waymark } from '../../src/index.ts'
import { missing, openBrowser, openSite, type Site, slowestMs } from './browser.ts'
import { type Served, startServe } from './served.ts'

// Visitors without cookies, with the library that pages send with, unmodified, each in a browser context of its own.

if (missing !== null) console.warn(`\n  SKIPPED: the tests of posthog-js without cookies. ${missing}\n`)

/** What of the library the pages use. */
interface Client {
  capture(event: string, properties?: object): void
  identify(id: string, set?: object): void
  reset(): void
  get_distinct_id(): string
  opt_out_capturing(): void
  opt_in_capturing(): void
}
/** Inside the page. */
declare const window: { posthog: Client; isLoaded?: boolean; localStorage: { length: number }; sessionStorage: { length: number } }

/** Where pages send, and what became of their events. */
interface Place {
  readonly url: string
  readonly key: string
  rows(sql: string): Promise<readonly (readonly unknown[])[]>
}
const browserNames = ['Firefox/130', 'Chrome/130', 'Safari/17', 'Edge/130', 'Opera/114'].map((name) => `Mozilla/5.0 (X11; Linux) ${name}`)

describe.skipIf(missing !== null)('posthog-js without cookies', () => {
  let browser: Browser
  const contexts: BrowserContext[] = []
  const complaints: string[] = []
  let site: Site
  let place: Place

  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    await site.close()
    expect(complaints.splice(0), 'what the pages logged').toEqual([])
  })

  /** A visitor with a browser of this name, on the page. */
  const visitor = async (userAgent: string): Promise<Page> => {
    const context = await browser.newContext({ userAgent })
    contexts.push(context)
    context.setDefaultTimeout(slowestMs)
    const page = await context.newPage()
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(`${site.url}/`)
    await page.waitForFunction(() => window.isLoaded)
    return page
  }
  const capture = (page: Page, event: string) => page.evaluate((name) => window.posthog.capture(name), event)
  const stored = (count: number, where: string) =>
    expect
      .poll(async () => Number((await place.rows(`select count() from events where ${where}`))[0]![0]), { timeout: 60_000, interval: 100 })
      .toBe(count)
  const people = async (where: string) => Number((await place.rows(`select count(distinct person_id) from events where ${where}`))[0]![0])
  const personOf = async (where: string) => {
    const found = await place.rows(`select distinct person_id from events where ${where}`)
    expect(found.length, where).toBe(1)
    return found[0]![0]
  }
  const keepsNothing = async (page: Page) => {
    expect(await page.context().cookies()).toEqual([])
    expect(await page.evaluate(() => window.sessionStorage.length)).toBe(0)
  }

  const scenario = () => {
    test("'always': five visitors are five people; two of them sign in, one of these leaves again", async () => {
      site = await openSite(place.url, place.key, { cookieless_mode: 'always' })
      const pages: Page[] = []
      for (const name of browserNames) pages.push(await visitor(name))
      for (const [i, page] of pages.entries()) await capture(page, `looked ${i}`)
      await stored(5, "event like 'looked %'")
      expect(await people("event like 'looked %'")).toBe(5)
      expect(await people("event in ('$pageview') or event like 'looked %'")).toBe(5)
      const [[sessions] = []] = await place.rows(
        "select count(distinct $session_id) from events where event like 'looked %' and notEmpty($session_id)",
      )
      expect(Number(sessions)).toBe(5)
      for (const page of pages) await keepsNothing(page)

      const [first, second] = pages as [Page, Page]
      await first.evaluate(() => window.posthog.identify('ada', { email: 'ada@example.org' }))
      await capture(first, 'bought')
      await second.evaluate(() => window.posthog.identify('bob', { email: 'bob@example.org' }))
      await capture(second, 'paid')
      await stored(2, "event in ('bought', 'paid')")
      await stored(2, "event = '$identify'")
      await first.evaluate(() => window.posthog.reset())
      await capture(first, 'after leaving')
      await stored(1, "event = 'after leaving'")
      const [ada, bob, left] = [
        await personOf("event = 'bought'"),
        await personOf("event = 'paid'"),
        await personOf("event = 'after leaving'"),
      ]
      expect(new Set([ada, bob, left]).size).toBe(3)
      expect([await personOf("event = 'looked 0'"), await personOf("event = 'looked 1'")]).toEqual([ada, bob])
      expect(await people("event like 'looked %'")).toBe(5)
      expect(await place.rows('select properties.email from persons where is_identified order by properties.email')).toEqual([
        ['ada@example.org'],
        ['bob@example.org'],
      ])
      for (const page of pages) await keepsNothing(page)
      expect(
        await place.rows('select count() from events where isNotNull(properties.$ip) or isNotNull(properties.$raw_user_agent)'),
      ).toEqual([[0]])
      expect(await place.rows("select count() from events where distinct_id = '$posthog_cookieless'")).toEqual([[0]])
    })

    test('who comes with the same address and the same browser counts as the same visitor', async () => {
      site = await openSite(place.url, place.key, { cookieless_mode: 'always' })
      for (let i = 0; i < 2; i++) await capture(await visitor('Mozilla/5.0 (the same)'), 'twin')
      await stored(2, "event = 'twin'")
      expect(await people("event = 'twin'")).toBe(1)
    })

    test("'on_reject': of five visitors three refuse; who is signed in and refuses is not known any more", async () => {
      site = await openSite(place.url, place.key, { cookieless_mode: 'on_reject' })
      const pages: Page[] = []
      for (const name of browserNames) pages.push(await visitor(`${name} (consent)`))
      for (const [i, page] of pages.entries()) {
        await page.evaluate((isRefused) => (isRefused ? window.posthog.opt_out_capturing() : window.posthog.opt_in_capturing()), i < 3)
        await capture(page, `chose ${i}`)
      }
      await stored(5, "event like 'chose %'")
      expect(await people("event like 'chose %'")).toBe(5)
      expect(await people("event = 'chose 0' or event = 'chose 1' or event = 'chose 2'")).toBe(3)
      const hashes = await place.rows(
        "select count(distinct distinct_id) from events where event like 'chose %' and distinct_id like 'cookieless\\\\_%'",
      )
      expect(hashes).toEqual([[3]])
      const [[sessions] = []] = await place.rows(
        "select count(distinct $session_id) from events where event like 'chose %' and notEmpty($session_id)",
      )
      expect(Number(sessions)).toBe(5)

      // One who agreed signs in, and refuses later.
      const signed = pages[4]!
      await signed.evaluate(() => window.posthog.identify('carl', { email: 'carl@example.org' }))
      await capture(signed, 'as carl')
      await stored(1, "event = 'as carl'")
      await signed.evaluate(() => window.posthog.opt_out_capturing())
      await capture(signed, 'in private')
      await stored(1, "event = 'in private'")
      expect(await personOf("event = 'in private'")).not.toBe(await personOf("event = 'as carl'"))
      expect(await personOf("event = 'chose 4'")).toBe(await personOf("event = 'as carl'"))

      // One who refused agrees later, and signs in as a customer.
      const late = pages[0]!
      await late.evaluate(() => window.posthog.opt_in_capturing())
      await late.evaluate(() => window.posthog.identify('dora', { email: 'dora@example.org' }))
      await capture(late, 'as dora')
      await stored(1, "event = 'as dora'")
      const strangers = await place.rows(
        "select distinct person_id from events where event in ('chose 1', 'chose 2', 'in private', 'as carl')",
      )
      expect(strangers.length).toBe(4)
      expect(strangers.map(([id]) => id)).not.toContain(await personOf("event = 'as dora'"))
      expect(await personOf("event = 'chose 0'")).not.toBe(await personOf("event = 'as dora'"))
    })
  }

  describe('against `waymark serve`, with its engine in another process', () => {
    let served: Served
    beforeAll(async () => {
      served = await startServe()
      place = { url: served.url, key: served.projectKey, rows: served.rows }
    })
    beforeEach(() => {
      place = { url: served.url, key: served.projectKey, rows: served.rows }
    })
    afterAll(async () => {
      expect(served.complaints).toEqual([])
      await served.stop()
    })
    scenario()

    test('nothing was left out or altered', async () => {
      site = await openSite(place.url, place.key)
      const { body } = await served.api('GET', `/api/projects/${served.projectId}/ingestion_warnings/`)
      expect((body as { results: unknown[] }).results).toEqual([])
    })
  })

  describe('against a server whose clock is ours', () => {
    let now = new Date()
    let waymark: Waymark
    let dataDir: string
    let close: () => Promise<void>
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'waymark-cookieless-'))
      waymark = await open({ dataDir, threads: 2, clock: () => now })
      const handle = toNodeHandler(waymark)
      const server = createServer((request, response) => void handle(request, response))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const project = await waymark.createProject({ name: 'shop' })
      place = {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        key: project.token,
        rows: async (query) =>
          (await project.query({ kind: 'SqlLikeQuery', query } as const, { refresh: 'force_blocking' })).results as unknown[][],
      }
      close = async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
        await waymark.close()
        await rm(dataDir, { recursive: true, force: true })
      }
    })
    afterAll(() => close())

    test('at the end of the day a visitor becomes another one, and a session ends after half an hour', async () => {
      now = new Date('2026-02-03T22:00:00Z')
      site = await openSite(place.url, place.key, { cookieless_mode: 'always' })
      const page = await visitor(browserNames[0]!)
      await capture(page, 'at ten')
      await stored(1, "event = 'at ten'")
      now = new Date('2026-02-03T22:29:00Z')
      await capture(page, 'before half past')
      await stored(1, "event = 'before half past'")
      now = new Date('2026-02-03T23:30:00Z')
      await capture(page, 'an hour later')
      await stored(1, "event = 'an hour later'")
      now = new Date('2026-02-04T00:05:00Z')
      await capture(page, 'tomorrow')
      await stored(1, "event = 'tomorrow'")
      const found = await place.rows(
        "select event, person_id, $session_id from events where event in ('at ten', 'before half past', 'an hour later', 'tomorrow') order by timestamp",
      )
      const numbers = (column: number) => {
        const order = [...new Set(found.map((row) => row[column]))]
        return found.map((row) => order.indexOf(row[column]))
      }
      expect(found.map(([event]) => event)).toEqual(['at ten', 'before half past', 'an hour later', 'tomorrow'])
      expect([numbers(1), numbers(2)]).toEqual([
        [0, 0, 0, 1],
        [0, 0, 1, 2],
      ])
    })
  })
})
