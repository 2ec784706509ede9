import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { accessibilityFindings, chooseDates, dialogClosed, hasBrowser, openNumbers, openWeb, settled, type Web } from './browser.ts'

// What a person reads of charts: the names of values, totals that are true, what is not over and what is missing, and annotations.

const visit = { kind: 'EventsNode', event: 'visit', name: 'visit' }
const buy = { kind: 'EventsNode', event: 'buy', name: 'buy' }
const dateRange = { date_from: '2026-06-01', date_to: '2026-06-04' }
const byPlan = { breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } }
const trend = (more: object = {}) => ({ kind: 'TrendsQuery', series: [visit], interval: 'day', dateRange, ...more })
const funnel = (more: object = {}, viz = 'steps') => ({
  kind: 'FunnelsQuery',
  series: [visit, buy],
  dateRange,
  funnelsFilter: { funnelVizType: viz },
  ...more,
})

const events: readonly (readonly [who: string, event: string, day: number, properties?: object])[] = [
  ['u1', 'visit', 1, { plan: 'pro' }],
  ['u2', 'visit', 1, { plan: 'free' }],
  ['u3', 'visit', 1],
  ['u1', 'visit', 2, { plan: 'pro' }],
  ['u1', 'buy', 2, { plan: 'pro', price: 10 }],
  ['u2', 'visit', 4, { plan: 'free' }],
  ['u2', 'buy', 4, { plan: 'free', price: 20 }],
  ['u4', 'visit', 4, { plan: 'pro' }],
]

describe.skipIf(!hasBrowser)('charts in a browser', () => {
  let web: Web
  let page: Page
  let project: { readonly id: number; readonly api_token: string }
  const base = () => `/api/projects/${project.id}/`
  const ask = <T>(query: object) => web.api<{ results: T[] }>('POST', `${base()}query/`, { query })

  beforeAll(async () => {
    web = await openWeb()
    project = await web.api('POST', '/api/projects/', { name: 'Charts', timezone: 'UTC' })
    const batch = events.map(([distinct_id, event, day, properties = {}], i) => ({
      event,
      distinct_id,
      properties,
      timestamp: `2026-06-0${day}T10:${String(i).padStart(2, '0')}:00Z`,
    }))
    const sent = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: project.api_token, batch }),
    })
    expect(sent.status).toBe(200)
    const count = async () => (await ask<number[]>({ kind: 'SqlLikeQuery', query: 'select count() from events' })).results[0]![0]
    await vi.waitUntil(async () => (await count()) === events.length, { timeout: 60_000, interval: 100 })
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  const answered = () => page.locator('.answer[aria-busy=false] .result').waitFor()
  const show = async (query: object, of = project.id) => {
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${of}/insights/new?${new URLSearchParams({ q: JSON.stringify(query) })}`)
    await answered()
  }
  const asked = async () => JSON.parse(new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('q')!) as Record<string, unknown>
  const numbers = () => page.getByRole('region', { name: 'Numbers' })
  const column = async (at: number) => {
    const rows = await numbers().locator('tbody tr').all()
    return Promise.all(rows.map((row) => row.locator('th, td').nth(at).textContent()))
  }
  const drawn = () => page.locator('.answer .result :is(svg text, .legend .text, .legend-table .name > .cell)').allTextContents()

  test('a formula with a breakdown names each row by its value: legend, tip, table, pie', async () => {
    const rate = { series: [visit, buy], trendsFilter: { formulaNodes: [{ formula: 'B / A * 100' }] }, ...byPlan }
    await show(trend(rate))
    await openNumbers(page)
    expect((await column(0)).toSorted()).toEqual(['(none)', 'free', 'pro'])
    expect(await drawn()).toEqual(expect.arrayContaining(['(none)', 'free', 'pro']))
    const slider = page.getByRole('slider')
    await slider.focus()
    await slider.press('ArrowRight')
    await slider.press('ArrowRight')
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/2-Jun-2026: .*pro 100\b/)
    expect(await page.locator('.tip').textContent()).toMatch(/pro\s*100/)
    for (const display of ['ActionsPie', 'ActionsBarValue', 'ActionsTable', 'ActionsBar', 'SlopeGraph']) {
      await show(trend({ ...rate, trendsFilter: { ...rate.trendsFilter, display } }))
      expect(await page.locator('.answer .result').textContent(), display).not.toContain('Formula')
    }
    await show(trend({ ...rate, trendsFilter: { formulaNodes: [{ formula: 'A + B' }, { formula: 'B / A', custom_name: 'Rate' }] } }))
    await openNumbers(page)
    expect(await column(0)).toEqual(expect.arrayContaining(['Formula (A + B) - pro', 'Rate - pro', 'Rate - (none)']))
  })

  test('no value and all other values have names: on every chart, in tables and dialogs, of funnels and retention', async () => {
    const limited = { breakdownFilter: { ...byPlan.breakdownFilter, breakdown_limit: 1 } }
    const displays = ['ActionsLineGraph', 'ActionsAreaGraph', 'ActionsBar', 'ActionsUnstackedBar', 'ActionsLineGraphCumulative']
    const totals = ['SlopeGraph', 'ActionsPie', 'ActionsBarValue', 'ActionsTable', 'WorldMap']
    const entity = { id: 'visit', name: 'visit', type: 'events' }
    const retention = (more: object) => ({
      kind: 'RetentionQuery',
      dateRange,
      retentionFilter: { period: 'Day', totalIntervals: 4, targetEntity: entity, returningEntity: entity },
      ...more,
    })
    const cases: (readonly [query: object, name: string])[] = [...displays, ...totals].flatMap((display) =>
      // The demo project has countries; here the map is a table.
      [trend({ trendsFilter: { display }, ...byPlan }), trend({ trendsFilter: { display }, ...limited })].map(
        (query, i) =>
          [query, i === 0 && display !== 'SlopeGraph' ? '(none)' : display === 'SlopeGraph' && i === 0 ? 'pro' : 'Other'] as const,
      ),
    )
    cases.push([funnel(byPlan), '(none)'], [funnel(limited), 'Other'], [funnel(byPlan, 'trends'), '(none)'])
    cases.push([retention(byPlan), '(none)'], [retention(limited), 'Other'])
    for (const [query, name] of cases) {
      await show(query)
      for (const summary of await page.locator('.result details:not([open]) > summary').all()) await summary.click()
      const slider = page.getByRole('slider')
      if ((await slider.count()) > 0) {
        await slider.first().focus()
        await page.keyboard.press('ArrowRight')
      }
      const text = `${await page.locator('.answer').textContent()} ${await page.locator('.answer').innerHTML()}`
      expect(text, JSON.stringify(query)).toContain(name)
      expect(text, JSON.stringify(query)).not.toMatch(/\$\$|\(\(/)
    }
    await show(funnel(byPlan))
    const row = page.getByRole('row', { name: /^1\. visit \(none\)/ })
    // The funnel of all together comes later, and moves the rows.
    await page
      .getByRole('row', { name: /\(baseline\)/ })
      .first()
      .waitFor()
    await row.getByRole('button').first().click()
    await page.getByRole('dialog', { name: 'Reached visit (none)' }).locator('.people tr').first().waitFor()
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    const file = await fetch(`${web.facts.url}${base()}query/export/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${web.facts.personal_api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: trend(byPlan), format: 'spreadsheet' }),
    })
    const csv = await file.text()
    expect(csv).toContain('(none)')
    expect(csv).not.toContain('$$')
  })

  test('totals of people and ratios are those of the whole range, asked once, and once for all values together; where there is none, none is shown', async () => {
    const totalsOf = async (more: object) => {
      const ranges: string[] = []
      const note = (request: { postData(): string | null }) => {
        if (/ActionsTable/.test(request.postData() ?? '')) ranges.push(request.postData()!)
      }
      page.on('request', note)
      await show(trend(more))
      await openNumbers(page)
      await expect.poll(() => column(1)).not.toContain('…')
      page.off('request', note)
      return { totals: await column(1), asked: ranges.length }
    }
    const of = (math: string, more: object = {}) => ({ series: [{ ...visit, math, ...more }] })
    expect(await totalsOf({})).toEqual({ totals: ['6'], asked: 0 })
    expect(await totalsOf(of('dau'))).toEqual({ totals: ['4'], asked: 1 })
    expect(await totalsOf({ ...of('dau'), interval: 'month' })).toEqual({ totals: ['4'], asked: 1 })
    expect(await totalsOf({ series: [{ ...buy, math: 'avg', math_property: 'price' }] })).toEqual({ totals: ['15'], asked: 1 })
    expect(await totalsOf({ series: [{ ...buy, math: 'sum', math_property: 'price' }] })).toEqual({ totals: ['30'], asked: 0 })
    expect(await totalsOf(of('weekly_active'))).toEqual({ totals: ['–'], asked: 0 })
    expect(await totalsOf({ series: [visit, buy], trendsFilter: { formula: 'B / A' } })).toEqual({ totals: ['0.33'], asked: 1 })
    expect(await totalsOf({ trendsFilter: { display: 'SlopeGraph' } })).toEqual({ totals: ['6'], asked: 1 })
    expect(await totalsOf({ trendsFilter: { smoothingIntervals: 3 } })).toEqual({ totals: ['6'], asked: 1 })
    expect(await totalsOf({ ...of('dau'), ...byPlan })).toEqual({ totals: ['2', '1', '1'], asked: 2 })
    // One number for each period: nobody was there in the days before.
    expect(await totalsOf({ ...of('dau'), compareFilter: { compare: true } })).toEqual({ totals: ['4', '0'], asked: 2 })
    const sums = { breakdownFilter: { ...byPlan.breakdownFilter, breakdown_limit: 1 } }
    expect(await totalsOf({ ...of('dau'), ...sums })).toEqual({ totals: ['2', '–'], asked: 2 })
    // The page of a site, whose table is closed at first.
    await page.goto(`${web.facts.url}/#/project/${web.demo}/web`)
    const chart = page.getByRole('region', { name: 'Visitors over time' })
    await chart.locator('.site-chart[aria-busy=false] .result').waitFor()
    await chart.locator('summary', { hasText: 'Numbers' }).click()
    const { results } = await web.api<{ results: { aggregated_value: number }[] }>('POST', `/api/projects/${web.demo}/query/`, {
      query: {
        kind: 'TrendsQuery',
        series: [
          { kind: 'EventsNode', event: null, math: 'dau', properties: [{ type: 'hogql', key: "event in ('$pageview', '$screen')" }] },
        ],
        dateRange: { date_from: '-30d' },
        trendsFilter: { display: 'ActionsTable' },
      },
    })
    const first = chart.getByRole('region', { name: 'Numbers' }).locator('tbody tr').first().locator('td').nth(1)
    await expect.poll(() => first.textContent()).toMatch(/^[\d,]+$/)
    await chooseDates(page, 'Last 30 days')
    await expect.poll(async () => (await first.textContent())!.replaceAll(',', '')).toBe(String(results[0]!.aggregated_value))
    // The card says the same.
    await expect
      .poll(async () => (await page.locator('.overview strong').first().textContent())!.replaceAll(',', ''))
      .toBe(String(results[0]!.aggregated_value))
  })

  test('the time to convert offers no breakdown, which it has not; the other shapes keep theirs', async () => {
    await show(funnel(byPlan))
    await page.getByLabel('Property of the breakdown').waitFor()
    await page.getByRole('button', { name: 'Time to convert', exact: true }).click()
    await answered()
    const breakdown = page.getByRole('group', { name: 'Split by' })
    await breakdown.getByText('The time to convert is that of all together.').waitFor()
    expect(await page.getByLabel('Property of the breakdown').count()).toBe(0)
    expect(await page.getByLabel('Step of the breakdown').count()).toBe(0)
    await page.getByRole('button', { name: 'Steps', exact: true }).click()
    await page.getByLabel('Property of the breakdown').waitFor()
  })

  test('conversion over time: a day in which nobody began is a gap, and no 0 %; a day that is not over is dashed', async () => {
    await show(funnel({ interval: 'day' }, 'trends'))
    await openNumbers(page)
    const cells = await numbers().locator('tbody td').allInnerTexts()
    // Of three of the first day, two bought later.
    expect(cells).toEqual(['Conversion', '66.67%', '100%', '–', '50%'])
    // Somebody begins today, also soon after midnight.
    const { api_token: api_key } = await web.api<{ api_token: string }>('GET', `/api/projects/${web.demo}/`)
    const sent = await fetch(`${web.facts.url}/capture/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key, event: '$pageview', distinct_id: 'of today' }),
    })
    expect(sent.status).toBe(200)
    await show(
      {
        ...funnel({}, 'trends'),
        series: [
          { ...visit, event: '$pageview' },
          { ...buy, event: 'purchase' },
        ],
        dateRange: { date_from: '-7d' },
      },
      web.demo,
    )
    await expect.poll(() => page.locator('.result svg polyline[stroke-dasharray]').count()).toBe(1)
    // Of a slope the end alone.
    await show(
      { ...trend(), series: [{ ...visit, event: '$pageview' }], dateRange: { date_from: '-7d' }, trendsFilter: { display: 'SlopeGraph' } },
      web.demo,
    )
    await expect.poll(() => page.locator('.result svg polyline').count()).toBe(2)
    expect(await page.locator('.result svg polyline[stroke-dasharray]').count()).toBe(1)
  })

  test('the last hour is drawn by minutes, and a month after it by days again', async () => {
    await show(trend())
    await chooseDates(page, 'Last hour')
    await expect.poll(asked).toMatchObject({ interval: 'minute', dateRange: { date_from: '-1h' } })
    await answered()
    expect(Number(await page.getByRole('slider').getAttribute('aria-valuemax'))).toBeGreaterThan(1)
    await chooseDates(page, 'Last 30 days')
    await expect.poll(asked).toMatchObject({ interval: 'day' })
    await chooseDates(page, 'Today')
    await expect.poll(asked).toMatchObject({ interval: 'hour' })
    await page.getByLabel('Interval', { exact: true }).selectOption('day')
    await expect.poll(asked).toMatchObject({ interval: 'day', dateRange: { date_from: 'dStart' } })
    // The same of the dates of a dashboard.
    const board = await web.api<{ id: number }>('POST', `${base()}dashboards/`, { name: 'By the hour' })
    await web.api('POST', `${base()}insights/`, { name: 'Visits', saved: true, dashboards: [board.id], query: trend() })
    await page.goto(`${web.facts.url}/#/project/${project.id}/dashboards/${board.id}`)
    const chart = (count: RegExp) => page.getByRole('img', { name: new RegExp(`over ${count.source} intervals`) }).waitFor()
    await chart(/4/)
    await chooseDates(page, 'Last hour', 'Dates of all tiles')
    await chart(/\d{2,3}/)
    expect(await page.locator('.tile polyline[stroke-dasharray]').count()).toBe(1)
    expect(await page.locator('.tile polyline').count()).toBe(2)
    await chooseDates(page, 'Last 7 days', 'Dates of all tiles')
    await chart(/8/)
  })

  test('the chart of a statement is split by a column, which an insight keeps', async () => {
    const statement = 'select toDate(timestamp) as day, event, count() as n from events group by day, event order by event, day'
    await page.goto(`${web.facts.url}/#/project/${project.id}/sql?${new URLSearchParams({ q: statement })}`)
    await page.reload()
    await page.getByRole('textbox', { name: 'SQL statement' }).waitFor()
    await page.getByRole('button', { name: /^Run(?! in)/ }).click()
    await page.getByRole('tab', { name: 'Chart' }).click()
    const split = page.getByRole('img', { name: /^Line chart.* 2 series over 3 intervals, .*: buy, visit\.$/ })
    await split.waitFor()
    await page.getByLabel('Split by').selectOption('')
    await page.getByRole('img', { name: /^Line chart.* 1 series/ }).waitFor()
    await page.getByLabel('Split by').selectOption('event')
    await split.waitFor()
    await page
      .getByRole('button', { name: /^Save as an insight|^Save…|^Save/ })
      .first()
      .click()
    expect(await accessibilityFindings(page)).toEqual([])
  })

  const marks = (of: Page | ReturnType<Page['getByRole']> = page) => of.getByRole('button', { name: /^Annotation, / })

  test('annotations: a mark on the axis of every chart over time, its text on hover and by keyboard, a click to add one', async () => {
    await web.api('POST', `${base()}annotations/`, { content: 'Version <b>2</b>', date_marker: '2026-06-02T09:00:00Z' })
    const charts: readonly object[] = [
      ...['ActionsLineGraph', 'ActionsAreaGraph', 'ActionsBar', 'ActionsUnstackedBar', 'ActionsLineGraphCumulative'].map((display) =>
        trend({ trendsFilter: { display } }),
      ),
      trend({ compareFilter: { compare: true } }),
      trend({ series: [{ ...buy, math: 'avg', math_property: 'price' }], trendsFilter: { display: 'BoxPlot' } }),
      funnel({ interval: 'day' }, 'trends'),
      { kind: 'LifecycleQuery', series: [visit], interval: 'day', dateRange },
    ]
    for (const query of charts) {
      await show(query)
      await expect
        .poll(() => marks().evaluateAll((all) => all.map((one) => (one as { ariaLabel?: string }).ariaLabel)), {
          message: JSON.stringify(query),
        })
        .toEqual(['Annotation, 2-Jun-2026: Version <b>2</b>'])
    }
    // What has no days has none, and a slope does not know what is between its ends.
    const without = [
      { kind: 'StickinessQuery', series: [visit], interval: 'day', dateRange },
      funnel({}, 'time_to_convert'),
      trend({ trendsFilter: { display: 'SlopeGraph' } }),
      trend({ trendsFilter: { display: 'ActionsPie' } }),
    ]
    for (const query of without) {
      await show(query)
      await settled(page)
      expect(await marks().count(), JSON.stringify(query)).toBe(0)
    }
    await show(trend())
    await marks().hover()
    await expect.poll(() => page.locator('.tip').textContent()).toContain('Version <b>2</b>')
    await page.mouse.move(0, 0)
    await page.locator('.tip').waitFor({ state: 'detached' })
    const slider = page.getByRole('slider')
    await slider.focus()
    await slider.press('ArrowRight')
    await slider.press('ArrowRight')
    expect(await slider.getAttribute('aria-valuetext')).toContain('Version <b>2</b>')
    await page.keyboard.press('Escape')
    for (let i = 0; i < 3 && (await page.locator('.note-mark:focus').count()) === 0; i++) await page.keyboard.press('Tab')
    await expect.poll(() => page.locator('.tip').textContent()).toContain('Version <b>2</b>')
    expect(await accessibilityFindings(page)).toEqual([])

    // A click on the axis, at its last day.
    const axis = page.getByRole('button', { name: /^Add an annotation/ })
    const box = (await axis.boundingBox())!
    await axis.click({ position: { x: box.width - 12, y: 12 } })
    const dialog = page.getByRole('dialog', { name: 'Annotations, 4-Jun-2026' })
    expect(await dialog.getByLabel('Time', { exact: true }).inputValue()).toBe('2026-06-04T00:00')
    await dialog.getByLabel('Note', { exact: true }).fill('Campaign')
    expect(await accessibilityFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialogClosed(page)
    await page.getByRole('button', { name: 'Annotation, 4-Jun-2026: Campaign' }).waitFor()
    // By keyboard, at the day before the last; a mark opens the same.
    await axis.focus()
    await page.keyboard.press('ArrowLeft')
    expect(await axis.textContent()).toBe('Add an annotation: 3-Jun-2026')
    expect(await accessibilityFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Annotations, 3-Jun-2026' }).waitFor()
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    await marks().first().click()
    await page.getByRole('dialog', { name: 'Annotations, 2-Jun-2026' }).getByText('Version <b>2</b>').waitFor()
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    const { results } = await web.api<{ results: { content: string; date_marker: string }[] }>('GET', `${base()}annotations/`)
    expect(results.map(({ content, date_marker }) => [content, Date.parse(date_marker)])).toEqual([
      ['Campaign', Date.parse('2026-06-04T00:00:00Z')],
      ['Version <b>2</b>', Date.parse('2026-06-02T09:00:00Z')],
    ])
    // A mark of several is called as many as it shows.
    await web.api('POST', `${base()}annotations/`, { content: 'News', date_marker: '2026-06-02T10:00:00Z' })
    await page.reload()
    const several = page.getByRole('button', { name: /^2 annotations, 2-Jun-2026: / })
    expect(await several.textContent()).toBe('2')
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('annotations on dashboards and on the page of a site; those of one insight or dashboard only there', async () => {
    const board = await web.api<{ id: number }>('POST', `${base()}dashboards/`, { name: 'Board' })
    const insight = (name: string) =>
      web.api<{ id: number; short_id: string }>('POST', `${base()}insights/`, { name, saved: true, dashboards: [board.id], query: trend() })
    const [one, two] = [await insight('One'), await insight('Two')]
    const about = (content: string, more: object) =>
      web.api('POST', `${base()}annotations/`, { content, date_marker: '2026-06-01T09:00:00Z', ...more })
    await about('of one', { scope: 'dashboard_item', dashboard_item: one.id })
    await about('of the board', { scope: 'dashboard', dashboard_id: board.id })
    await about('of all', { scope: 'organization' })
    const textOf = (of: Page | ReturnType<Page['getByRole']>) =>
      of
        .getByRole('button', { name: /^(Annotation|\d annotations), 1-Jun-2026/ })
        .evaluateAll((all) => all.map((each) => (each as { ariaLabel?: string }).ariaLabel).join())
    await page.goto(`${web.facts.url}/#/project/${project.id}/dashboards/${board.id}`)
    await page.reload()
    const tile = (name: string) => page.getByRole('region', { name, exact: true })
    await expect.poll(() => textOf(tile('One'))).toMatch(/of one.*of the board.*of all|of the board/)
    expect((await textOf(tile('One'))).match(/of (one|the board|all)/g)!.toSorted()).toEqual(['of all', 'of one', 'of the board'])
    expect((await textOf(tile('Two'))).match(/of (one|the board|all)/g)!.toSorted()).toEqual(['of all', 'of the board'])
    const open = async (id: string) => {
      await page.goto(`${web.facts.url}/#/project/${project.id}/insights/${id}`)
      await answered()
      await page.getByRole('button', { name: /^(Annotation|\d annotations), 1-Jun-2026/ }).waitFor()
      return (await textOf(page)).match(/of (one|the board|all)/g)!.toSorted()
    }
    expect(await open(one.short_id)).toEqual(['of all', 'of one'])
    expect(await open(two.short_id)).toEqual(['of all'])

    const yesterday = new Date(Date.now() - 86_400_000)
    await web.api('POST', `/api/projects/${web.demo}/annotations/`, { content: 'Seen on the site', date_marker: yesterday.toISOString() })
    await page.goto(`${web.facts.url}/#/project/${web.demo}/web`)
    await page.reload()
    await page
      .getByRole('region', { name: 'Visitors over time' })
      .getByRole('button', { name: /^Annotation, .*: Seen on the site$/ })
      .waitFor()
  })

  test('a tile that nobody has looked at says so; paper and pictures of the whole page have all tiles', async () => {
    const board = await web.api<{ id: number }>('POST', `${base()}dashboards/`, { name: 'Long' })
    const count = 14
    for (let i = 0; i < count; i++)
      await web.api('POST', `${base()}insights/`, { name: `Tile ${i}`, saved: true, dashboards: [board.id], query: trend() })
    let release = () => {}
    let released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/insights\/\d+\/\?from_dashboard/, async (route) => {
      await released
      await route.continue()
    })
    const address = `${web.facts.url}/#/project/${project.id}/dashboards/${board.id}`
    const last = () => page.getByRole('region', { name: `Tile ${count - 1}`, exact: true })
    const unseen = () => page.getByText('Not computed yet').count()
    await page.goto(address)
    await last().getByText('Not computed yet').waitFor()
    // After a while those that are computed say it; the others do not.
    await page
      .getByText(/^Computing$/)
      .first()
      .waitFor()
    expect(await page.getByText(/^Computing/).count()).toBeLessThanOrEqual(3)
    expect(await page.getByText('Waits for the tiles').count()).toBeGreaterThan(0)
    expect(await last().getByText('Computing').count()).toBe(0)
    // On paper all of them are asked for.
    expect(await unseen()).toBeGreaterThan(0)
    await page.emulateMedia({ media: 'print' })
    await expect.poll(unseen).toBe(0)
    release()
    const charts = () => page.locator('.tile svg[role=img]').count()
    await expect.poll(charts).toBe(count)
    await page.emulateMedia({ media: null })

    // Without paper they follow by themselves once those in view have come.
    released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.goto('about:blank')
    await page.goto(address)
    await last().getByText('Not computed yet').waitFor()
    release()
    await expect.poll(charts).toBe(count)
    expect(await page.evaluate('scrollY')).toBe(0)
    await page.screenshot({ fullPage: true })

    // The button waits for all of them before it prints.
    released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.addInitScript('window.print = () => { globalThis.printed = document.querySelectorAll(".tile svg[role=img]").length }')
    await page.goto('about:blank')
    await page.goto(address)
    await last().getByText('Not computed yet').waitFor()
    await page.getByLabel('More', { exact: true }).click()
    await page.getByRole('button', { name: 'Print' }).click()
    await expect.poll(unseen).toBe(0)
    expect(await page.evaluate('globalThis.printed ?? null')).toBe(null)
    release()
    await expect.poll(() => page.evaluate('globalThis.printed ?? null')).toBe(count)
    await page.unroute(/\/insights\/\d+\/\?from_dashboard/)
  })
})
