import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { htmlSnippet } from '../../src/web/live/snippets.ts'
import { missing, openBrowser, slowestMs } from './browser.ts'
import { type Gate, openGate } from './gate.ts'
import { type Served, startServe } from './served.ts'

// The library that this server gives to pages, and the files that it loads later, in a real browser, with all that Settings can switch on.

if (missing !== null) console.warn(`\n  SKIPPED: the scripts for web pages. ${missing}\n`)

/** Of the library, which is not sent for a browser that a program steers. */
const options = { opt_out_useragent_filter: true, request_queue_config: { flush_interval_ms: 250 } }

declare const window: {
  posthog: { capture(event: string): void; __loaded?: boolean; version?: string }
  isLoaded?: boolean
  __PosthogExtensions__?: Record<string, unknown>
}

const places: Readonly<Record<string, string>> = {
  '/module.mjs': 'node_modules/posthog-js/dist/module.mjs',
  '/module.full.js': 'node_modules/posthog-js/dist/module.full.js',
  '/array.full.js': 'node_modules/posthog-js/dist/array.full.js',
}
const head = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,">'
const body = '</head><body><h1>A shop</h1><button id="dead">Nothing happens</button><a id="next" href="#next">Next</a></body></html>'

/** The ways to load it. `server`: where events go. */
const ways: Readonly<Record<string, (server: string, key: string) => string>> = {
  'as a module from npm': (server, key) =>
    `<script type="module">import posthog from '/module.mjs'; window.posthog = posthog; posthog.init('${key}', { api_host: '${server}', ...${JSON.stringify(options)} })</script>`,
  'as the full bundle from npm': (server, key) =>
    `${htmlSnippet(key, server).code.replace("options.api_host + '/array/' + key + '/array.js'", "'/array.full.js'").replace("defaults: '2025-05-24'", JSON.stringify(options).slice(1, -1))}`,
  'as the snippet': (server, key) =>
    htmlSnippet(key, server).code.replace("defaults: '2025-05-24'", `defaults: '2025-05-24', ${JSON.stringify(options).slice(1, -1)}`),
  'as a snippet that loads /static/array.js, and files with their version': (server, key) =>
    htmlSnippet(key, server)
      .code.replace("'/array/' + key + '/array.js'", "'/static/array.js'")
      .replace("defaults: '2025-05-24'", `strict_script_versioning: true, ${JSON.stringify(options).slice(1, -1)}`),
}

describe.skipIf(missing !== null)('the browser library of this server', () => {
  let served: Served
  let browser: Browser
  let gate: Gate
  let context: BrowserContext
  let page: Page
  let site: { url: string; close(): Promise<void> }
  const complaints: string[] = []

  beforeAll(async () => {
    ;[served, browser] = await Promise.all([startServe(), openBrowser()])
    const settings = {
      autocapture_web_vitals_opt_in: true,
      autocapture_exceptions_opt_in: true,
      capture_dead_clicks: true,
      heatmaps_opt_in: true,
      capture_performance_opt_in: true,
      session_recording_opt_in: true,
      surveys_opt_in: true,
    }
    expect((await served.api('PATCH', `/api/projects/${served.projectId}/`, settings)).status).toBe(200)
  })
  afterAll(async () => {
    await browser.close()
    await served.stop()
  })
  beforeEach(async () => {
    complaints.length = 0
    gate = await openGate(served.url)
  })
  afterEach(async () => {
    await context.close()
    await Promise.all([site.close(), gate.close()])
    expect(complaints, 'what the page logged').toEqual([])
    expect(served.complaints, 'what the server complained of').toEqual([])
    expect(
      gate.passed.filter(({ status }) => status === null || status >= 400).map(({ method, path, status }) => [method, path, status]),
    ).toEqual([])
  })

  const visit = async (script: string) => {
    const server = createServer(async (request, response) => {
      const file = places[request.url ?? '']
      response.setHeader('content-type', file ? 'text/javascript' : 'text/html')
      response.end(file ? await readFile(join(import.meta.dirname, file)) : head + script + body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    site = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: () =>
        new Promise((resolve) => {
          server.closeAllConnections()
          server.close(() => resolve())
        }),
    }
    context = await browser.newContext()
    context.setDefaultTimeout(slowestMs)
    page = await context.newPage()
    page.on('console', (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`))
    page.on('pageerror', (error) => error.message.includes('on purpose') || complaints.push(String(error)))
    await page.goto(site.url)
    await page.waitForFunction(() => window.posthog?.__loaded === true)
  }
  const stored = (where: string) =>
    expect
      .poll(async () => Number((await served.rows(`select count() from events where ${where}`))[0]![0]), { timeout: 60_000, interval: 200 })
      .toBeGreaterThan(0)

  test.each(Object.entries(ways))('%s: with all that Settings can switch on', async (_, script) => {
    await visit(script(gate.url, served.projectKey))
    const here = `properties.$host = '${new URL(site.url).host}'`
    await page.evaluate(() => window.posthog.capture('said'))
    await stored(`event = 'said' and ${here}`)
    await stored(`event = '$pageview' and ${here}`)
    const loaded = async (name: string) => page.waitForFunction((one) => window.__PosthogExtensions__?.[one] !== undefined, name)
    await loaded('errorWrappingFunctions')
    await loaded('postHogWebVitalsCallbacks')
    await loaded('initDeadClicksAutocapture')
    await page.evaluate(() => void setTimeout(() => Promise.reject(new Error('on purpose'))))
    await stored(`event = '$exception' and ${here}`)
    await page.locator('#dead').click()
    await stored(`event = '$autocapture' and ${here}`)
    await stored(`event = '$dead_click' and ${here}`)
    // Measurements are sent together, some seconds after the first one: who leaves before that sends none.
    await stored(`event = '$web_vitals' and ${here}`)
  })
})
