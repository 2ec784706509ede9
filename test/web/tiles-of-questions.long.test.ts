import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseDates, datesButton, hasBrowser, openWeb, settled, type Web } from './browser.ts'

// A tile is any answer: a question goes onto a dashboard without being saved as an insight first.

describe.skipIf(!hasBrowser)('tiles of questions', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(() => web.close())

  test('a question that was begun on a dashboard is a tile of it, and becomes an insight by one click', async () => {
    const project = `/api/projects/${web.demo}`
    const board = await web.api<{ id: number }>('POST', `${project}/dashboards/`, { name: 'Wall' })
    const listed = async () => (await web.api<{ count: number }>('GET', `${project}/insights/?saved=true&basic=true`)).count
    const before = await listed()
    const page = await web.signedIn()
    page.setDefaultTimeout(20_000)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${board.id}`)
    await page.getByRole('link', { name: 'New chart' }).click()
    await page.getByRole('button', { name: 'Add to the dashboard' }).click()
    await page.getByRole('heading', { name: 'Wall' }).waitFor()
    const tile = page.locator('.tile').first()
    await tile.locator('svg, table').first().waitFor()
    expect(await listed()).toBe(before)
    const { tiles } = await web.api<{ tiles: { insight: { id: number; saved: boolean } }[] }>('GET', `${project}/dashboards/${board.id}/`)
    expect(tiles.map(({ insight }) => insight.saved)).toEqual([false])

    await tile.locator('summary').click()
    await tile.getByRole('button', { name: 'Save as an insight' }).click()
    await expect.poll(listed).toBe(before + 1)
    await tile.getByRole('button', { name: 'Save as an insight' }).waitFor({ state: 'detached' })

    // Another one, from the builder, onto a dashboard that is chosen there.
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new`)
    await page.getByRole('button', { name: 'Add to a dashboard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Wall' }).click()
    await page.getByRole('heading', { name: 'Wall' }).waitFor()
    await expect.poll(() => page.locator('.tile').count()).toBe(2)
    expect(await listed()).toBe(before + 1)
    await page.close()
  })

  test('a new chart of a board that is looked at live, with filters of its own, comes back to that look', async () => {
    const board = await web.api<{ id: number }>('POST', `/api/projects/${web.demo}/dashboards/`, { name: 'Followed' })
    const page = await web.signedIn()
    page.setDefaultTimeout(20_000)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${board.id}`)
    await chooseDates(page, 'Last 7 days', 'Dates of all tiles')
    await page.getByRole('button', { name: 'Live', pressed: false }).click()
    await page.getByRole('button', { name: 'Live', pressed: true }).waitFor()
    await page.getByRole('link', { name: 'New chart' }).click()
    // What is changed in the builder keeps where it was begun.
    await page.getByRole('tab', { name: 'Funnel' }).click()
    await page.getByRole('tab', { name: 'Trends' }).click()
    await page.getByRole('button', { name: 'Add to the dashboard' }).click()
    await page.getByRole('heading', { name: 'Followed' }).waitFor()
    await page.locator('.tile').first().waitFor()
    await page.getByRole('button', { name: 'Live', pressed: true }).waitFor()
    await datesButton(page, 'Dates of all tiles').getByText('Last 7 days').waitFor()
    await page.close()
  })

  test('a tile that is split by a value says what is most, and asks nothing for it', async () => {
    const project = `/api/projects/${web.demo}`
    const board = await web.api<{ id: number }>('POST', `${project}/dashboards/`, { name: 'Split' })
    const node = (more: object = {}) => ({ kind: 'EventsNode', event: '$pageview', name: '$pageview', ...more })
    const query = (series: object) => ({
      kind: 'TrendsQuery',
      series: [series],
      interval: 'day',
      dateRange: { date_from: '-30d' },
      breakdownFilter: { breakdown: '$pathname', breakdown_type: 'event', breakdown_limit: 3 },
    })
    const tile = (name: string, of: object) =>
      web.api('POST', `${project}/insights/`, { name, saved: true, dashboards: [board.id], query: { kind: 'InsightVizNode', source: of } })
    await tile('Views by path', query(node()))
    await tile('People by path', query(node({ math: 'dau' })))
    const { results } = await web.api<{ results: { count: number; label: string; breakdown_value: string }[] }>(
      'POST',
      `${project}/query/`,
      {
        query: query(node()),
      },
    )
    const all = results.reduce((sum, { count }) => sum + count, 0)
    const [largest] = results.filter(({ breakdown_value: value }) => !value.startsWith('$$')).toSorted((a, b) => b.count - a.count)
    const page = await web.signedIn()
    page.setDefaultTimeout(20_000)
    const asked: string[] = []
    page.on('request', (request) => /\/query\/$/.test(request.url()) && asked.push(request.postData() ?? ''))
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${board.id}`)
    const words = (name: string) => page.getByRole('region', { name }).getByRole('list', { name: 'In words' }).getByRole('listitem')
    await words('Views by path').nth(1).waitFor()
    const share = ((100 * largest!.count) / all).toFixed(1).replace(/\.0$/, '')
    expect(await words('Views by path').allTextContents()).toEqual([
      `${all.toLocaleString('en')}Pageview events`,
      `${largest!.count.toLocaleString('en')}${largest!.breakdown_value}, ${share}% of all`,
    ])
    await words('People by path').first().waitFor()
    expect((await words('People by path').allTextContents()).join()).toMatch(/^\d+unique people: Pageview, \/[^,]*, \d+ \w+$/)
    await settled(page)
    expect(asked.filter((body) => body.includes('TrendsQuery'))).toEqual([])
    await page.close()
  })

  test('a statement is kept as a tile alone', async () => {
    const project = `/api/projects/${web.demo}`
    const board = await web.api<{ id: number }>('POST', `${project}/dashboards/`, { name: 'Statements' })
    const page = await web.signedIn()
    page.setDefaultTimeout(20_000)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/sql`)
    await page.getByRole('button', { name: /^Run Ctrl/ }).click()
    await page.getByRole('button', { name: 'Save as insight' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Latest')
    await dialog.getByLabel('Statements').check()
    await dialog.getByLabel('Only as a tile').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('link', { name: 'Open the dashboard' }).click()
    await page.locator('.tile').getByText('Latest').waitFor()
    const { tiles } = await web.api<{ tiles: { insight: { saved: boolean } }[] }>('GET', `${project}/dashboards/${board.id}/`)
    expect(tiles.map(({ insight }) => insight.saved)).toEqual([false])
    await page.close()
  })
})
