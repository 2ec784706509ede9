import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, chooseDates, datesButton, hasBrowser, openWeb, settled, type Web } from './browser.ts'

const dayMs = 86_400_000
/** In the zone of the demo project. */
const dayAgo = (count: number) => new Date(Date.now() - count * dayMs).toISOString().slice(0, 10)
const fullText = (day: string) =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    Date.parse(day),
  )

describe.skipIf(!hasBrowser)('dates in a browser', () => {
  let web: Web
  let page: Page
  let asked: { dateRange: Record<string, unknown>; interval?: string }[]
  beforeAll(async () => {
    web = await openWeb()
    await web.api('PATCH', `/api/projects/${web.demo}/`, { timezone: 'UTC', week_start_day: 1 })
    page = await web.signedIn()
    page.on('request', (request) => {
      const query = request.url().endsWith('/query/') && JSON.parse(request.postData() ?? '{}').query
      if (query?.kind === 'TrendsQuery') asked.push(query)
    })
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  const open = async (path = 'insights/new?kind=trends') => {
    asked = []
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
    await datesButton(page).waitFor()
    await settled(page)
  }
  const lastAsked = () => asked.at(-1)
  const shown = async () => ((await datesButton(page).textContent()) ?? '').replace(/^Dates:\s*/, '')

  test('two clicks in the calendar are a range, over the end of a month', async () => {
    await open()
    await datesButton(page).click()
    const popup = page.getByRole('dialog', { name: 'Dates' })
    const grid = popup.getByRole('grid')
    expect(await grid.getByRole('columnheader').allInnerTexts()).toEqual(['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'])
    expect(await accessibilityFindings(page)).toEqual([])
    const first = dayAgo(40)
    const months =
      Number(dayAgo(0).slice(0, 4)) * 12 + Number(dayAgo(0).slice(5, 7)) - Number(first.slice(0, 4)) * 12 - Number(first.slice(5, 7))
    for (let i = 0; i < months; i++) await popup.getByRole('button', { name: 'Month before' }).click()
    await popup.getByRole('button', { name: fullText(first), exact: true }).click()
    await popup.getByText('choose the other end').waitFor()
    for (let i = 0; i < months; i++) await popup.getByRole('button', { name: 'Month after' }).click()
    await popup.getByRole('button', { name: fullText(dayAgo(0)), exact: true }).click()
    await popup.waitFor({ state: 'detached' })
    expect(await datesButton(page).and(page.locator(':focus')).count()).toBe(1)
    await expect.poll(lastAsked).toMatchObject({ interval: 'day', dateRange: { date_from: first, date_to: dayAgo(0) } })
  })

  test('by keyboard: to a week that begins on Monday, a day by hours, and back with Escape', async () => {
    await open()
    await datesButton(page).press('Enter')
    const grid = page.getByRole('grid')
    await grid.getByRole('button', { name: fullText(dayAgo(0)) }).focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Home')
    const day = dayAgo(7 + ((new Date(dayAgo(7)).getUTCDay() + 6) % 7))
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe(fullText(day))
    await page.keyboard.press('PageUp')
    await page.keyboard.press('PageDown')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape') // the first end only
    await grid.waitFor()
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await expect.poll(lastAsked).toMatchObject({ interval: 'hour' })
    const { date_from: from, date_to: to } = lastAsked()!.dateRange
    expect(to).toBe(`${from}T23:59:59.999999`)
    expect(new Date(String(from)).getUTCDay()).toBe(1)
    // All hours of the day are asked, and a longer interval takes the day alone.
    await page.getByLabel('Interval', { exact: true }).selectOption('day')
    await expect.poll(lastAsked).toMatchObject({ interval: 'day', dateRange: { date_to: from } })
    await datesButton(page).click()
    await page.keyboard.press('Escape')
    await grid.waitFor({ state: 'detached' })
    expect(await datesButton(page).and(page.locator(':focus')).count()).toBe(1)
  })

  test('the interval follows the range, and one that was chosen holds', async () => {
    await open()
    for (const [range, interval] of [
      ['Today', 'hour'],
      ['Last 12 months', 'month'],
      ['Last 90 days', 'day'],
      ['Last hour', 'minute'],
      ['Last 30 days', 'day'],
    ] as const) {
      await chooseDates(page, range)
      await expect.poll(() => page.getByLabel('Interval', { exact: true }).inputValue()).toBe(interval)
      expect(await shown()).toBe(range)
    }
    await page.getByLabel('Interval', { exact: true }).selectOption('week')
    await chooseDates(page, 'Last 12 months')
    await settled(page)
    expect(await page.getByLabel('Interval', { exact: true }).inputValue()).toBe('week')
  })

  test('weeks and quarters begin where the project says', async () => {
    const answer = async (date_from: string, date_to?: string) =>
      (
        await web.api<{ results: { days: string[] }[] }>('POST', `/api/projects/${web.demo}/query/`, {
          query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: '$pageview' }], dateRange: { date_from, date_to } },
        })
      ).results[0]!.days
    const week = await answer('-1wStart', '-1wEnd')
    expect([week.length, new Date(week[0]!).getUTCDay()]).toEqual([7, 1])
    const month = Number(dayAgo(0).slice(5, 7))
    expect((await answer('qStart'))[0]).toBe(`${dayAgo(0).slice(0, 4)}-${String(month - ((month - 1) % 3)).padStart(2, '0')}-01`)
  })

  test('since the last release: an annotation by its name', async () => {
    const at = new Date(Date.now() - 3 * dayMs).toISOString()
    await web.api('POST', `/api/projects/${web.demo}/annotations/`, { content: 'Release 2.4', date_marker: at, scope: 'project' })
    await open()
    await datesButton(page).click()
    await page.getByRole('button', { name: /Since the last release: Release 2\.4/ }).click()
    await expect.poll(async () => new Date(String(lastAsked()?.dateRange.date_from)).toISOString()).toBe(at)
    expect(await shown()).toMatch(/^Since \d+ /)
  })

  test('typed days and a length of time', async () => {
    await open()
    await datesButton(page).click()
    await page.getByLabel('How many').fill('6')
    await page.getByLabel('How many').press('Enter')
    await expect.poll(lastAsked).toMatchObject({ dateRange: { date_from: '-6d' } })
    await page.getByLabel('Unit').selectOption('w')
    await expect.poll(lastAsked).toMatchObject({ dateRange: { date_from: '-6w' } })
    await page.getByLabel('First day').fill(dayAgo(9))
    await page.getByLabel('Last day').fill(dayAgo(2))
    await expect.poll(lastAsked).toMatchObject({ dateRange: { date_from: dayAgo(9), date_to: dayAgo(2) } })
    // A press elsewhere closes it.
    await page.getByRole('heading', { level: 1 }).click()
    await page.getByRole('grid').waitFor({ state: 'detached' })
  })

  test('of a dashboard: all tiles, and back to those of each insight', async () => {
    const { results } = await web.api<{ results: { id: number }[] }>('GET', `/api/projects/${web.demo}/dashboards/`)
    await page.goto('about:blank') // what is not saved is left
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${results[0]!.id}`)
    const button = datesButton(page, 'Dates of all tiles')
    await button.waitFor()
    await chooseDates(page, 'Last week', 'Dates of all tiles')
    await expect.poll(() => button.textContent()).toMatch(/Last week$/)
    await chooseDates(page, 'Default dates', 'Dates of all tiles')
    await expect.poll(() => button.textContent()).toMatch(/Default dates$/)
  })

  test('on a phone it fits, and can be touched', async () => {
    const phone = await web.browser.newContext({
      storageState: await page.context().storageState(),
      viewport: { width: 390, height: 800 },
      hasTouch: true,
    })
    const small = await phone.newPage()
    await small.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?kind=trends`)
    await datesButton(small).tap()
    const box = (await small.getByRole('dialog', { name: 'Dates' }).boundingBox())!
    expect(box.x >= 0 && box.x + box.width <= 390).toBe(true)
    await small.getByRole('option', { name: 'Last 7 days' }).tap()
    await expect.poll(() => datesButton(small).textContent()).toMatch(/Last 7 days$/)
    await phone.close()
  })
})
