import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../clients/browser.ts'
import { program } from '../harness/programs.ts'

// Waymark at /analytics of an application, in a real browser, signed in through that application.

const root = join(import.meta.dirname, '../..')
const isThere = chromiumPath !== null && existsSync(join(root, 'test/recipes/node_modules'))
if (!isThere) console.warn('\n  SKIPPED: Waymark mounted in applications. They need Chromium, and `npm run setup:recipes`.\n')

describe.skipIf(!isThere)('at /analytics', () => {
  let browser: Browser
  let child: ChildProcess | null = null
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
  })
  afterAll(() => browser.close())
  afterEach(() => child?.kill())

  const start = async (framework: string): Promise<{ url: string; token: string; project: number }> => {
    child = spawn(process.execPath, [program('mounted-app'), framework, root], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = new Promise<never>((_, reject) => child!.once('exit', (code) => reject(new Error(`the application ended with ${code}`))))
    ended.catch(() => undefined)
    return JSON.parse(
      await Promise.race([ended, new Promise<string>((resolve) => createInterface({ input: child!.stdout! }).once('line', resolve))]),
    )
  }

  test.each(['express', 'fastify', 'hono'])('%s: with and without the slash, in and out with the application', async (framework) => {
    const { url, token } = await start(framework)
    const context = await browser.newContext()
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
    })
    await page.goto(`${url}/analytics`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(page.url()).toMatch(/\/analytics\/(#.*)?$/)

    await context.addCookies([{ name: 'user', value: 'ada', url }])
    for (const path of ['/analytics', '/analytics/']) {
      await page.goto('about:blank')
      await page.goto(url + path)
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    }
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
    await page.goto(page.url().replace(/(project\/\d+\/).*$/, '$1live'))
    await page.getByRole('heading', { name: 'Waiting for the first event' }).waitFor()
    expect(await page.getByRole('region', { name: 'From a web page' }).locator('code').textContent()).toContain(
      `api_host: '${url}/analytics'`,
    )
    const sent = await fetch(`${url}/analytics/capture/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: token, event: 'hello', distinct_id: 'me' }),
    })
    expect(sent.status).toBe(200)
    await page.getByRole('button', { name: 'hello' }).waitFor()
    // A change, behind the body parsers.
    await page.goto(page.url().replace(/(project\/\d+\/).*$/, '$1settings/capture'))
    await page.getByLabel('Dead clicks').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').waitFor()
    expect(await (await fetch(`${url}/analytics/array/${token}/config`)).json()).toMatchObject({ captureDeadClicks: true })
    await page.goto(page.url().replace(/(project\/\d+\/).*$/, '$1settings/account'))
    await page.getByText('shop signs you in and out').waitFor()

    await context.clearCookies()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })
})
