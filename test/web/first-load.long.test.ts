import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openWeb, type Web } from './browser.ts'

// What makes the first load fast, on any machine: few requests, few bytes, and no request that waits for another one without need.

/** Compressed, without the answers of the API and without the font: what the page needs today, 52,700, and a few percent more. The largest part of what came since 35,600 are the ways to any page: navigation, palette, dates. */
const mostBytes = 55_000
const mostFiles = 7
/** Of the font, which is asked for last and holds nothing up: the page is shown in another one until it is there. */
const mostFontBytes = 50_000

describe.skipIf(!hasBrowser)('the first load', () => {
  let web: Web
  let state: Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>
  beforeAll(async () => {
    web = await openWeb()
    const page = await web.signedIn()
    state = await page.context().storageState()
    await page.context().close()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  /** Signed in, with an empty cache. */
  const visitor = async () => (await web.browser.newContext({ storageState: state, viewport: { width: 1280, height: 860 } })).newPage()
  const live = () => `${web.facts.url}/#/project/${web.demo}/live`
  const pathOf = (request: Request) => request.url().slice(web.facts.url.length)

  test('has few files, all of them compressed, and nothing from elsewhere', async () => {
    const page = await visitor()
    const all: Request[] = []
    page.on('request', (request) => all.push(request))
    await page.goto(live())
    await page.getByRole('button', { name: 'Pageview' }).first().waitFor()
    // The page looks for later events from now on.
    const requests = [...all]
    expect(requests.filter((request) => !request.url().startsWith(web.facts.url))).toEqual([])
    const fonts = requests.filter((request) => pathOf(request).endsWith('.woff2'))
    expect(fonts.map(pathOf)).toEqual([expect.stringMatching(/^\/assets\/inter-latin-wght-normal-.*\.woff2$/)])
    const font = (await fonts[0]!.response())!
    expect(await font.headerValue('content-type')).toBe('font/woff2')
    expect(await font.headerValue('cache-control')).toContain('immutable')
    expect((await fonts[0]!.sizes()).responseBodySize).toBeLessThanOrEqual(mostFontBytes)
    // What is above the events comes a moment after them, so the page is what was fetched before they were asked for. The favicon comes from the browser.
    const asksEvents = requests.findIndex((request) => pathOf(request).endsWith('/query/'))
    expect(asksEvents).toBeGreaterThan(0)
    const files = requests.slice(0, asksEvents).filter((request) => !fonts.includes(request) && !/^\/api\/|\.svg$/.test(pathOf(request)))
    expect(files.map(pathOf).length, files.map(pathOf).join('\n')).toBeLessThanOrEqual(mostFiles)
    let bytes = 0
    for (const file of files) {
      const response = (await file.response())!
      const encoding = await response.headerValue('content-encoding')
      const { responseBodySize } = await file.sizes()
      // What is small is larger when it is compressed.
      if (responseBodySize > 1024) expect(encoding, pathOf(file)).not.toBe(null)
      bytes += responseBodySize
    }
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThanOrEqual(mostBytes)
    // On a slow machine the page looks for later events before it is whole.
    const asked = requests
      .slice(0, asksEvents + 1)
      .map((request) => `${request.method()} ${pathOf(request)}`)
      .filter((one) => !one.endsWith('/events/position/'))
    expect(
      asked.filter((one, i) => asked.indexOf(one) < i),
      'nothing is asked twice',
    ).toEqual([])
    await page.context().close()
  })

  test('asks at once for what it needs: the code of the page does not wait for the session, which comes with the projects', async () => {
    const page = await visitor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(pathOf(request)))
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    // The server does not answer any question until the page has asked for all that does not depend on an answer.
    await page.route('**/api/**', async (route) => {
      await released
      await route.continue()
    })
    await page.goto(live())
    await expect.poll(() => asked.filter((path) => path.startsWith('/api/')).toSorted()).toEqual(['/api/session/'])
    const codeOfPage = () => asked.find((path) => /^\/assets\/live-/.test(path))
    await expect.poll(codeOfPage).toBeDefined()
    await page.evaluate(`import(${JSON.stringify(codeOfPage())})`) // and what it imports
    // Flags of countries come with the events.
    const files = () => asked.filter((path) => path.startsWith('/assets/') && !/\/flag-[^/]*\.svg$/.test(path))
    const before = files()
    release()
    await page.getByRole('button', { name: 'Pageview' }).first().waitFor()
    expect(files()).toEqual(before)
    await page.context().close()
  })

  test('who is not signed in asks once, and is refused nothing', async () => {
    const page = await web.page()
    const answers: string[] = []
    page.on('response', (response) => answers.push(`${response.status()} ${pathOf(response.request())}`))
    await page.goto(live())
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(answers.filter((one) => one.includes('/api/')).toSorted()).toEqual(['200 /api/login/', '200 /api/session/'])
    expect(answers.filter((one) => !/^(200|304) /.test(one))).toEqual([])
    await page.context().close()
  })

  test('a second visit fetches the page only, not its files', async () => {
    const page = await visitor()
    await page.goto(live())
    await page.getByRole('button', { name: 'Pageview' }).first().waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Pageview' }).first().waitFor()
    const fetched = `performance.getEntriesByType('resource')
      .filter(({ name, transferSize }) => name.includes('/assets/') && transferSize > 0).map(({ name }) => name)`
    expect(await page.evaluate("performance.getEntriesByType('resource').length")).toBeGreaterThan(mostFiles / 2)
    expect(await page.evaluate(fetched)).toEqual([])
    await page.context().close()
  })
})
