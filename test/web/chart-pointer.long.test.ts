import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, chooseDates, hasBrowser, openWeb, settled, type Web } from './browser.ts'

// Charts that answer the pointer, and the keyboard: names that hide and single out, words over each shape, a range that is looked at closer, and how it is drawn.

const pageview = { kind: 'EventsNode', event: '$pageview', name: '$pageview', math: 'total' }
const dateRange = { date_from: '-14d' }
const byBrowser = { breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' } }
const trend = (trendsFilter: object, more: object = {}) => ({
  kind: 'TrendsQuery',
  series: [pageview],
  interval: 'day',
  dateRange,
  trendsFilter,
  ...more,
})

describe.skipIf(!hasBrowser)('the pointer on charts', () => {
  let web: Web
  let page: Page
  const open = async (query: object) => {
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?q=${encodeURIComponent(JSON.stringify(query))}`)
    await page.locator('.chart svg').first().waitFor()
    await settled(page)
  }
  /** The query of the page: its address. */
  const asked = (): Record<string, unknown> => {
    const [, given = ''] = page.url().split('?q=')
    return JSON.parse(decodeURIComponent(given)) as Record<string, unknown>
  }
  const legend = () => page.getByRole('list', { name: 'Series' })
  const shapes = (mark: string) => page.locator(`.plot [data-series="${mark}"]`)

  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('a name hides its series and shows it again, alone or with all', async () => {
    await open(trend({ display: 'ActionsBar' }, byBrowser))
    const table = page.getByRole('region', { name: 'Series' })
    const names = await table.locator('[aria-pressed]').allTextContents()
    expect(names.length).toBeGreaterThan(2)
    const button = (name: string) => table.getByRole('button', { name, exact: true })
    const showAll = page.getByRole('button', { name: 'Show all', exact: true })
    await button(names[0]!).click()
    expect(await button(names[0]!).getAttribute('aria-pressed')).toBe('false')
    await expect.poll(() => shapes('0').count()).toBe(0)
    expect(await shapes('1').count()).toBeGreaterThan(0)
    await button(`Only ${names[1]!}`).click()
    await expect.poll(() => shapes('2').count()).toBe(0)
    expect(await shapes('1').count()).toBeGreaterThan(0)
    await button(names[1]!).click()
    await page.getByText('All series are hidden.').waitFor()
    await showAll.click()
    await expect.poll(() => shapes('0').count()).toBeGreaterThan(0)
    expect(await showAll.count()).toBe(0)
    // Twice leaves it alone.
    await button(names[1]!).dblclick()
    await expect.poll(() => shapes('0').count()).toBe(0)
    expect(await shapes('1').count()).toBeGreaterThan(0)
    await showAll.click()
    await expect.poll(() => shapes('0').count()).toBeGreaterThan(0)
    // What is under the pointer stands out.
    await button(names[1]!).hover()
    await expect.poll(() => page.locator('.plot .unlit[data-series="0"]').count()).toBeGreaterThan(0)
    expect(await page.locator('.plot .unlit[data-series="1"]').count()).toBe(0)
    // The choice stays while the dates change.
    await button(names[2]!).click()
    await chooseDates(page, 'Last 7 days')
    await settled(page)
    expect(await button(names[2]!).getAttribute('aria-pressed')).toBe('false')
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('each shape says what it is', async () => {
    const told = async (shape: string) => {
      const box = (await page.locator(shape).first().boundingBox())!
      await page.mouse.move(box.x + Math.min(4, box.width / 2), box.y + box.height - Math.min(4, box.height / 2))
      return (await page.locator('.plot > .tip').textContent()) ?? ''
    }
    await open(trend({ display: 'ActionsBarValue' }, byBrowser))
    expect(await told('[data-mark="0"]')).toMatch(/Of those shown\d/)
    await open({ kind: 'FunnelsQuery', series: [pageview, { ...pageview, event: 'signed up', name: 'signed up' }], dateRange })
    expect(await told('[data-mark="0 1"]')).toMatch(/^2\. signed up.*Of the first step.*Dropped off.*Median time.*Click to see people$/)
    await open({ kind: 'PathsQuery', dateRange, pathsFilter: { includeEventTypes: ['$pageview'] } })
    expect(await told('[data-mark^="node"]')).toContain('Went on')
    expect(await page.locator('.plot .unlit').count()).toBeGreaterThan(0)
    // A node has people.
    await page.mouse.down()
    await page.mouse.up()
    await page
      .getByRole('dialog')
      .getByText(/^Came to /)
      .waitFor()
    await page.keyboard.press('Escape')
  })

  test('a range that is drawn is looked at closer, and left again', async () => {
    await open(trend({ display: 'ActionsLineGraph' }))
    const slider = page.getByRole('slider', { name: /^Values by interval/ })
    const box = (await slider.boundingBox())!
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.4, y)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 })
    await page.locator('.over-time .range').waitFor()
    await page.mouse.up()
    await expect.poll(() => asked().dateRange).not.toEqual(dateRange)
    const { date_from, date_to } = asked().dateRange as { date_from: string; date_to: string }
    const days = (Date.parse(date_to) - Date.parse(date_from)) / 86_400_000 + 1
    expect(days).toBeGreaterThanOrEqual(4)
    expect(days).toBeLessThanOrEqual(6)
    await settled(page)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await expect.poll(() => asked().dateRange).toEqual(dateRange)
    await settled(page)
    // By keys: one day, in hours.
    await slider.focus()
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'Shift+ArrowRight', 'Enter']) await page.keyboard.press(key)
    await expect.poll(() => asked().dateRange).not.toEqual(dateRange)
    await settled(page)
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await expect.poll(() => asked().interval).toBe('day')
  })

  test('the options of a chart are part of its question', async () => {
    await open(trend({ display: 'ActionsLineGraph' }, { series: [pageview, { ...pageview, math: 'dau' }] }))
    await page.getByText('Options', { exact: true }).click()
    const filter = () => asked().trendsFilter as Record<string, unknown>
    const choose = async (name: string, field: string, value: unknown) => {
      await page.getByLabel(name, { exact: true }).click()
      await expect.poll(() => filter()[field]).toEqual(value)
      await settled(page)
    }
    await choose('Numbers on the chart', 'showValuesOnSeries', true)
    expect(await page.locator('.plot .halo').count()).toBeGreaterThan(5)
    await choose('Logarithmic axis', 'yAxisScaleType', 'log10')
    await choose('Logarithmic axis', 'yAxisScaleType', undefined)
    await choose('Second axis', 'showMultipleYAxes', true)
    await choose('Trend line', 'showTrendLines', true)
    expect(await page.locator('.plot polyline[stroke-dasharray="2 5"]').count()).toBe(2)
    await page.getByLabel('Name of the goal line').fill('Target')
    await page.getByLabel('Number of the goal line').fill('1000')
    await page.getByRole('button', { name: 'Add goal line' }).click()
    await expect.poll(() => filter().goalLines).toEqual([{ label: 'Target', value: 1000 }])
    await page.locator('.plot text', { hasText: 'Target' }).waitFor()
    await page.getByRole('button', { name: 'Remove the goal line Target' }).click()
    await expect.poll(() => filter().goalLines).toBeUndefined()
    await page.getByLabel('Chart', { exact: true }).selectOption('ActionsAreaGraph')
    await settled(page)
    await choose('Shares of the total', 'showPercentStackView', true)
    await page.locator('.plot text', { hasText: /^100%$/ }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('a funnel says what goes with converting, and who', async () => {
    const steps = ['$pageview', 'product added'].map((event) => ({ kind: 'EventsNode', event, name: event }))
    await open({ kind: 'FunnelsQuery', series: steps, dateRange: { date_from: '-30d' } })
    await page.getByText('Correlation: what goes with converting').click()
    const table = page.getByRole('region', { name: 'Correlation' })
    const first = table.locator('tbody tr').first()
    await first.waitFor()
    const [, odds, converted] = await first.locator('td').allTextContents()
    expect(odds).toMatch(/^[\d.,]+ times the odds to (convert|drop off)$/)
    const name = await first.locator('td').first().textContent()
    await first.getByRole('button').first().click()
    const people = page.getByRole('dialog')
    await people.getByText(new RegExp(`^${name!}, (converted|dropped off)$`)).waitFor()
    await people.locator('.people tr').first().waitFor()
    if (Number(converted) > 0) expect(await people.locator('.people tr').count()).toBe(Math.min(50, Number(converted)))
    await page.keyboard.press('Escape')
    // What is left out is asked about no more, and can be taken back.
    await first.getByRole('button', { name: `Leave out ${name!}` }).click()
    await expect.poll(() => table.locator('tbody tr td:first-child').allTextContents()).not.toContain(name)
    await page.getByRole('button', { name: /^Compare .* again$/ }).click()
    await expect.poll(() => table.locator('tbody tr td:first-child').allTextContents()).toContain(name)
    await page.getByLabel('What is compared').selectOption('properties')
    await expect.poll(() => table.locator('tbody tr td:first-child').first().textContent()).toMatch(/: /)
    await page.getByLabel('What is compared').selectOption('event_with_properties')
    await page.getByText('Choose an event to compare its properties.').waitFor()
    await page.getByLabel('Event whose properties are compared').fill('$pageleave')
    await page.getByLabel('Event whose properties are compared').press('Enter')
    await expect.poll(() => table.locator('tbody tr td:first-child').first().textContent()).toMatch(/: /)
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('beside the values of a split funnel stands the whole one, with its people', async () => {
    const steps = ['$pageview', 'product added'].map((event) => ({ kind: 'EventsNode', event, name: event }))
    const funnel = { kind: 'FunnelsQuery', series: steps, dateRange: { date_from: '-30d' } }
    await open({ ...funnel, ...byBrowser })
    await legend().getByText('Baseline', { exact: true }).waitFor()
    const { results } = await web.api<{ results: { count: number }[] }>('POST', `/api/projects/${web.demo}/query/`, { query: funnel })
    const last = page.getByRole('region', { name: 'Steps' }).locator('tbody tr').nth(1)
    expect(await last.locator('td').first().textContent()).toBe('2. product added (baseline)')
    expect(await last.locator('td').nth(1).textContent()).toBe(String(results[1]!.count))
    await last.getByRole('button').first().click()
    const people = page.getByRole('dialog', { name: 'Reached product added' })
    await people
      .getByText(new RegExp(`\\b${results[1]!.count}\\b`))
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    // Without a breakdown there is nothing to compare.
    await page
      .getByRole('button', { name: /^Remove the breakdown/ })
      .first()
      .click()
    await legend().waitFor({ state: 'detached' })
  })

  test('a retention is a table, or curves above it whose points list people', async () => {
    const entity = { id: '$pageview', name: '$pageview', type: 'events' }
    await open({
      kind: 'RetentionQuery',
      retentionFilter: { period: 'Day', totalIntervals: 8, targetEntity: entity, returningEntity: entity, display: 'ActionsLineGraph' },
      dateRange: { date_from: '-7d' },
    })
    await legend().getByText('All', { exact: true }).waitFor()
    expect(await page.getByRole('region', { name: 'Retention' }).count()).toBe(1)
    const slider = page.getByRole('slider', { name: /^Values by interval/ })
    await slider.focus()
    await slider.press('ArrowRight')
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Day 0: All 100%/)
    await page.getByRole('button', { name: 'Table', exact: true }).click()
    await slider.waitFor({ state: 'detached' })
    expect(asked().retentionFilter).not.toHaveProperty('display')
  })
})
