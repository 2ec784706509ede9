import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser } from '../clients/browser.ts'
import { hasBrowser } from '../web/browser.ts'
import { type Recipe, startRecipe } from './recipe.ts'

// The application of docs/viewers.md as it stands there, in a real browser: two customers, each with its own numbers, under a strict content security policy.

const isInstalled = existsSync(join(import.meta.dirname, 'node_modules'))
if (!isInstalled) console.warn('\n  SKIPPED: the application of docs/viewers.md. `npm run setup:recipes` installs Express.\n')

declare const getComputedStyle: (element: unknown) => { readonly backgroundColor: string }
const board = (page: Page) => page.locator('waymark-dashboard')

describe.skipIf(!isInstalled || !hasBrowser)('charts in an application', () => {
  let app: Recipe
  let browser: Browser

  beforeAll(async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/viewers.md'), 'utf8')
    ;[app, browser] = await Promise.all([startRecipe(page, 'viewers'), openBrowser()])
    const project = await app.waymark.project('Shop')
    const orders = (customer: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ event: 'order', distinct_id: `${customer}-${i}`, properties: { customer } }))
    await project.ingest({ batch: [...orders('acme', 3), ...orders('bolt', 5)] })
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  const visit = async (customer: string, more: object = {}) => {
    const context = await browser.newContext({ extraHTTPHeaders: { 'x-customer': customer }, ...more })
    const page = await context.newPage()
    await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(app.url)
    return { page, complaints, close: () => context.close() }
  }

  test.each([
    ['acme', '3'],
    ['bolt', '5'],
    ['nobody', '0'],
  ])('%s sees %s orders', async (customer, count) => {
    const { page, complaints, close } = await visit(customer)
    await page.getByRole('heading', { name: 'Your shop' }).waitFor()
    await page.getByRole('heading', { name: 'Orders' }).waitFor()
    await page.getByText('Numbers').click()
    // The last day of the table is the one of the events.
    const cells = await page.locator('waymark-dashboard table tbody tr td:last-child').allTextContents()
    const numbers = cells.map((text) => Number(text)).filter((value) => value > 0)
    expect(numbers).toEqual(count === '0' ? [] : [Number(count)])
    expect(complaints).toEqual([])
    await close()
  })

  test('numbers are shown under the pointer and by arrow keys, and the chart takes the width that it has', async () => {
    const { page, complaints, close } = await visit('acme', { viewport: { width: 1280, height: 800 } })
    const slider = page.getByRole('slider')
    await slider.focus()
    await page.keyboard.press('End')
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toContain('3')
    const widthOf = () =>
      page
        .locator('waymark-dashboard svg')
        .first()
        .boundingBox()
        .then((box) => box!.width)
    const wide = await widthOf()
    await page.setViewportSize({ width: 420, height: 800 })
    await expect.poll(widthOf).not.toBe(wide)
    expect(await widthOf()).toBeLessThanOrEqual(420)
    expect(complaints).toEqual([])
    await close()
  })

  test('a token that has ended is replaced, and one that was revoked is said', async () => {
    const { page, close } = await visit('acme')
    await page.getByRole('heading', { name: 'Orders' }).waitFor()
    const asked = page.waitForRequest((request) => request.url().endsWith('/token'))
    await board(page).evaluate((element) => Object.assign(element, { token: 'ended.ended.ended' }))
    await asked
    await page.getByRole('heading', { name: 'Orders' }).waitFor()
    await board(page).evaluate((element) => Object.assign(element, { tokenProvider: null, token: 'ended.ended.ended' }))
    await page.getByText('This chart is not open to you any more.').waitFor()
    await close()
  })

  test('the theme of the page reaches the chart', async () => {
    const { page, close } = await visit('acme')
    await page.getByRole('heading', { name: 'Orders' }).waitFor()
    await board(page).evaluate((element) =>
      (element as unknown as { style: { setProperty(name: string, value: string): void } }).style.setProperty(
        '--waymark-background',
        'rgb(1, 2, 3)',
      ),
    )
    const background = await board(page).evaluate((element) => getComputedStyle(element).backgroundColor)
    expect(background).toBe('rgb(1, 2, 3)')
    await close()
  })
})
