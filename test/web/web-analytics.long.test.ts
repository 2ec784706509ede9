import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { accessibilityFindings, chooseDates, hasBrowser, openNumbers, openWeb, settled, type Web } from './browser.ts'

// The page of a site: all its numbers are about the same visitors, whether their events name a session or not, and what it shows belongs to the filters that are chosen.

const daysAgo = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10)
/** Whole days in UTC, that are over. */
const [from, to, firstDay, secondDay] = [daysAgo(6), daysAgo(2), daysAgo(5), daysAgo(4)]

const [first, second] = ['0190b0f0-0000-7000-8000-000000000001', '0190b0f0-0000-7000-8000-000000000002']
type Sent = readonly [who: string, event: string, day: string, time: string, path: string, session?: string]
const events: readonly Sent[] = [
  // With sessions.
  ['ann', '$pageview', firstDay, '10:00', '/a', first],
  ['ann', '$pageview', firstDay, '10:05', '/b', first],
  ['ben', '$pageview', firstDay, '11:00', '/a', second],
  // Without: one visit of two pages, and another one after a pause of more than thirty minutes.
  ['cid', '$pageview', firstDay, '12:00', '/a'],
  ['cid', '$pageview', firstDay, '12:29', '/b'],
  ['cid', '$pageview', firstDay, '13:30', '/a'],
  // The same person with and without one.
  ['ann', '$pageview', secondDay, '09:00', '/c'],
  // An app has screens in place of pages.
  ['dan', '$screen', secondDay, '10:00', '/a'],
  // No page: no visitor, unless it is the goal.
  ['eve', 'signup', secondDay, '11:00', '/a'],
]
// For polls: what is only slow because others have the cores goes on.
const slow = { timeout: 60_000 }
/** Visitors of each day, and of both. */
const visitors = { days: [3, 2], all: 4, ofGoal: 5 }

describe.skipIf(!hasBrowser)('web analytics in a browser', () => {
  let web: Web
  let page: Page
  let project: { readonly id: number; readonly api_token: string }
  const base = () => `/api/projects/${project.id}/`
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    project = await web.api('POST', '/api/projects/', { name: 'Site', timezone: 'UTC' })
    const batch = events.map(([distinct_id, event, day, time, path, session]) => ({
      event,
      distinct_id,
      timestamp: `${day}T${time}:00Z`,
      properties: {
        $pathname: path,
        $current_url: `https://shop.example${path}`,
        $host: 'shop.example',
        $browser: 'Firefox',
        ...(session && { $session_id: session }),
      },
    }))
    const sent = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: project.api_token, batch }),
    })
    expect(sent.status).toBe(200)
    const count = async () =>
      (
        await web.api<{ results: number[][] }>('POST', `${base()}query/`, {
          query: { kind: 'HogQLQuery', query: 'select count() from events' },
        })
      ).results[0]![0]
    await vi.waitUntil(async () => (await count()) === events.length, { timeout: 60_000, interval: 100 })
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const open = async (more = '') => {
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${project.id}/web?from=${from}&to=${to}&compare=no${more}`)
    await page.locator('.overview').waitFor()
    await settled(page)
  }
  const card = async (name: string) =>
    Number(
      await page
        .locator('.overview > div')
        .filter({ hasText: new RegExp(`^${name}`) })
        .locator('strong')
        .textContent(),
    )
  const region = (name: string) => page.getByRole('region', { name, exact: true })
  const rows = async (name: string) =>
    Promise.all(
      (await region(name).locator('tbody tr').all()).map(async (row) =>
        (await row.locator('td').allTextContents()).slice(0, 2).map((text) => text.trim()),
      ),
    )
  /** Visitors by day, and of the range, below the chart. */
  const chart = async () => {
    const within = region('Visitors over time')
    const numbers = within.locator('details:not([open]) > summary', { hasText: /^Numbers$/ })
    if ((await numbers.count()) > 0) await numbers.click()
    await within.locator('tbody tr').first().waitFor()
    return (await within.locator('tbody tr').first().locator('td').allTextContents()).map(Number).filter((one) => one > 0)
  }

  test('cards, chart, tables, Live and an insight agree', async () => {
    await open()
    expect(await card('Visitors')).toBe(visitors.all)
    expect(await card('Page views')).toBe(8)
    expect(await card('Sessions')).toBe(6)
    await expect
      .poll(async () => (await chart()).toSorted((a, b) => a - b), slow)
      .toEqual([...visitors.days, visitors.all].toSorted((a, b) => a - b))
    expect(await rows('Pages')).toEqual([
      ['/a', '4'],
      ['/b', '2'],
      ['/c', '1'],
    ])
    expect(await rows('Devices')).toEqual([['Firefox', String(visitors.all)]])
    expect(await accessibilityFindings(page)).toEqual([])
    // An insight of unique users over the same events.
    const series = [
      {
        kind: 'EventsNode',
        event: null,
        name: 'All events',
        math: 'dau',
        properties: [{ type: 'hogql', key: "event in ('$pageview', '$screen')" }],
      },
    ]
    const query = {
      kind: 'TrendsQuery',
      series,
      interval: 'day',
      dateRange: { date_from: from, date_to: to },
      trendsFilter: { display: 'BoldNumber' },
    }
    await page.goto(`${web.facts.url}/#/project/${project.id}/insights/new?${new URLSearchParams({ q: JSON.stringify(query) })}`)
    await page.getByRole('img', { name: new RegExp(`^Number: .*\\b${visitors.all}\\b`) }).waitFor()
    await openNumbers(page)
    // Live lists the events, and whose they are.
    const seen = new Set<string>()
    for (const event of ['$pageview', '$screen']) {
      await page.goto(`${web.facts.url}/#/project/${project.id}/live?event=${encodeURIComponent(event)}`)
      const lines = page.locator('main tbody tr')
      const all = events.filter(([, name]) => name === event)
      await expect.poll(() => lines.count(), slow).toBe(all.length)
      for (const text of await lines.allTextContents()) seen.add(events.map(([who]) => who).find((who) => text.includes(who))!)
    }
    expect(seen.size).toBe(visitors.all)
  })

  test('with a goal too: who did it is a visitor of the cards and of the chart', async () => {
    await open(`&goal=${encodeURIComponent('event:signup')}`)
    expect(await card('Visitors')).toBe(visitors.ofGoal)
    await expect.poll(chart, slow).toContain(visitors.ofGoal)
    const { id } = await web.api<{ id: number }>('POST', `${base()}actions/`, { name: 'Joined', steps: [{ event: 'signup' }] })
    await open(`&goal=${encodeURIComponent(`action:${id}`)}`)
    expect(await card('Visitors')).toBe(visitors.ofGoal)
    await expect.poll(chart, slow).toContain(visitors.ofGoal)
  })

  test('with a filter on events all of them are of the same visitors', async () => {
    await open(`&filters=${encodeURIComponent(JSON.stringify([{ type: 'event', key: '$pathname', operator: 'exact', value: '/b' }]))}`)
    expect(await card('Visitors')).toBe(2)
    await expect.poll(chart, slow).toContain(2)
    expect(await rows('Pages')).toEqual([['/b', '2']])
  })

  test('tables of how visits began count those without a session id; a filter by a row holds for all numbers', async () => {
    await open()
    await region('Pages').getByRole('button', { name: 'Entry' }).click()
    await settled(page)
    expect(await rows('Pages')).toEqual([
      ['/a', '4'],
      ['/c', '1'],
    ])
    expect(await rows('Sources')).toEqual([['Unknown', String(visitors.all)]])
    await region('Pages').getByRole('button', { name: '/a' }).click()
    await page.getByRole('button', { name: 'Remove the filter $entry_pathname = /a' }).waitFor()
    await settled(page)
    // Ann came once by another page, the next day.
    expect(await card('Visitors')).toBe(4)
    expect(await card('Sessions')).toBe(5)
    await expect.poll(async () => (await chart()).toSorted((a, b) => a - b), slow).toEqual([1, 3, 4])
    expect(await rows('Devices')).toEqual([['Firefox', '4']])
    await region('Pages').getByRole('button', { name: '/a' }).waitFor()
    expect(await page.getByText('session id').count()).toBe(0)
  })

  test('while another filter is computed, every part that still shows the one before says so', async () => {
    await open()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/query/', async (route) => {
      await held
      await route.continue()
    })
    await region('Pages').getByRole('button', { name: '/b' }).click()
    await page.getByRole('button', { name: 'Remove the filter $pathname = /b' }).waitFor()
    const parts = page.locator('main [data-answer]')
    // The cards, the chart, four tables, goals and web vitals.
    expect(await parts.count()).toBe(8)
    expect(
      await parts.evaluateAll((all) =>
        all.map((one) => (one as unknown as { getAttribute(name: string): string }).getAttribute('aria-busy')),
      ),
    ).toEqual(Array(8).fill('true'))
    await expect
      .poll(() =>
        parts
          .locator('.answered')
          .evaluateAll((all) =>
            all.map(
              (one) => (globalThis as unknown as { getComputedStyle(of: unknown): { opacity: string } }).getComputedStyle(one).opacity,
            ),
          ),
      )
      .toEqual(Array(8).fill('0.55'))
    expect(await card('Visitors')).toBe(visitors.all)
    release()
    await settled(page)
    expect(await card('Visitors')).toBe(2)
    await page.unroute('**/query/')
  })

  test('the same rule on dashboards, for charts of statements too', async () => {
    const { id } = await web.api<{ id: number }>('POST', `${base()}dashboards/`, { name: 'Board' })
    const queries = [
      {
        kind: 'InsightVizNode',
        source: {
          kind: 'TrendsQuery',
          series: [{ kind: 'EventsNode', event: '$pageview' }],
          dateRange: { date_from: from, date_to: to },
        },
      },
      { kind: 'DataTableNode', source: { kind: 'HogQLQuery', query: 'select event, count() from events where {filters} group by event' } },
    ]
    for (const [i, query] of queries.entries())
      await web.api('POST', `${base()}insights/`, { name: `Tile ${i}`, query, saved: true, dashboards: [id] })
    await page.goto(`${web.facts.url}/#/project/${project.id}/dashboards/${id}`)
    await page.locator('.tile-body .result').nth(1).waitFor()
    await settled(page)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/insights\/\d+\//, async (route) => {
      await held
      await route.continue()
    })
    await chooseDates(page, 'Last 7 days', 'Dates of all tiles')
    const tiles = page.locator('.tile-body[data-answer]')
    await expect
      .poll(() =>
        tiles.evaluateAll((all) => all.map((one) => (one as unknown as { getAttribute(name: string): string }).getAttribute('aria-busy'))),
      )
      .toEqual(['true', 'true'])
    await expect
      .poll(() =>
        tiles
          .locator('.result')
          .evaluateAll((all) =>
            all.map(
              (one) => (globalThis as unknown as { getComputedStyle(of: unknown): { opacity: string } }).getComputedStyle(one).opacity,
            ),
          ),
      )
      .toEqual(['0.55', '0.55'])
    release()
    await settled(page)
    await page.unroute(/\/insights\/\d+\//)
  })
})

describe.skipIf(!hasBrowser)('the time zone of a new project', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints.filter((one) => !/status of 400/.test(one))).toEqual([])
  })
  const zoneOf = async (id: number) => (await web.api<{ timezone: string }>('GET', `/api/projects/${id}/`)).timezone

  test('is that of the browser at the first start, shown and checked', async () => {
    expect(await zoneOf(web.facts.project_id)).toBe('UTC')
    const page = await web.page()
    await page.goto(web.facts.setup_url)
    await page.getByLabel('Your name').fill('Ada')
    await page.getByLabel('E-mail address').fill('ada@example.com')
    await page.getByLabel('Password').fill('correct horse')
    const zone = page.getByLabel('Time zone')
    expect(await zone.inputValue()).toBe('Europe/Berlin')
    await zone.fill('Mars/Base')
    await zone.press('Tab')
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.locator('.field', { hasText: 'Time zone' }).getByRole('alert').waitFor()
    await zone.fill('Europe/Berlin')
    await zone.press('Tab')
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    expect(await zoneOf(web.facts.project_id)).toBe('Europe/Berlin')
    web.keep(await page.context().storageState())
    await page.context().close()
  })

  test('is that of the browser for every project that the interface makes, and can be another one', async () => {
    const page = await web.signedIn()
    const made = async (path: string, button: string | null, name: string, other?: string) => {
      await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/${path}`)
      if (button) await page.getByRole('button', { name: button }).click()
      const form = page.locator('form', { has: page.getByRole('button', { name: 'Create' }) })
      await form.getByLabel('Name', { exact: true }).fill(name)
      expect(await form.getByLabel(/^Time zone/).inputValue()).toBe('Europe/Berlin')
      if (other) {
        await form.getByLabel(/^Time zone/).fill(other)
        await page.keyboard.press('Tab')
      }
      const answered = page.waitForResponse((response) => response.request().method() === 'POST' && response.status() === 201)
      await form.getByRole('button', { name: 'Create' }).click()
      const created = (await (await answered).json()) as { id: number; teams?: { id: number; timezone: string }[] }
      // The page goes there by itself.
      if (button) await page.waitForURL(new RegExp(`/project/${created.id}/home`))
      return created
    }
    expect(await zoneOf((await made('settings', 'New project', 'One')).id)).toBe('Europe/Berlin')
    expect(await zoneOf((await made('settings', 'New project', 'Two', 'Asia/Tokyo')).id)).toBe('Asia/Tokyo')
    const { teams } = await made('settings/organization', null, 'Second')
    expect(teams!.map(({ timezone }) => timezone)).toEqual(['Europe/Berlin'])
    await page.context().close()
  })
})
