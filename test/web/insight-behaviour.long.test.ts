import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accessibilityFindings,
  chooseDates,
  datesButton,
  dialogClosed,
  hasBrowser,
  openNumbers,
  openWeb,
  owner,
  settled,
  type Web,
} from './browser.ts'

// How insights behave: what is slow can be cancelled, nothing jumps, days are those of the project, keys are enough, and texts of users stay texts.

const node = (event: string | null, more: object = {}) => ({ kind: 'EventsNode', event, name: event ?? 'All events', ...more })
const dateRange = { date_from: '-30d' }
const byCountry = {
  kind: 'TrendsQuery',
  series: [node('$pageview', { math: 'dau' })],
  dateRange,
  breakdownFilter: { breakdown: '$geoip_country_code', breakdown_type: 'event' },
  trendsFilter: { display: 'WorldMap' },
}

describe.skipIf(!hasBrowser)('insights as they behave', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  const answered = (page: Page) => page.locator('.answer[aria-busy=false] .result').waitFor()
  const show = async (page: Page, query: object, project = web.demo) => {
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${project}/insights/new?${new URLSearchParams({ q: JSON.stringify(query) })}`)
    await answered(page)
  }
  const capture = async (api_key: string, batch: readonly object[]) => {
    const response = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key, batch }),
    })
    expect(response.status).toBe(200)
  }
  const stored = (project: number, count: number) =>
    expect
      .poll(async () => {
        const { results } = await web.api<{ results: number[][] }>('POST', `/api/projects/${project}/query/`, {
          query: { kind: 'SqlLikeQuery', query: 'select count() from events' },
          refresh: 'force_blocking',
        })
        return results[0]![0]
      })
      .toBe(count)

  test('a slow query says so, is cancelled by a click, and ends on the server', async () => {
    const running = async () => {
      const response = await fetch(`${web.facts.url}/metrics`, { headers: { authorization: `Bearer ${web.facts.personal_api_key}` } })
      return Number(/^waymark_statements_running (\d+)$/m.exec(await response.text())![1])
    }
    const page = await web.signedIn()
    await show(page, { kind: 'TrendsQuery', series: [node('$pageview')], interval: 'day', dateRange: { date_from: 'all' } })
    await expect.poll(running).toBe(0)
    const before = await page.locator('.result svg').first().boundingBox()
    await page.getByRole('group', { name: 'Who' }).getByRole('button', { name: 'Add a filter' }).click()
    await page.keyboard.type('sql')
    await page.keyboard.press('Enter')
    // Runs for days.
    const endless =
      '(select count() from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = 8) = 0'
    await page.getByLabel('SQL expression', { exact: true }).fill(endless)
    await page.getByLabel('SQL expression', { exact: true }).press('Enter')
    const cancel = page.getByRole('button', { name: 'Cancel' })
    await cancel.waitFor()
    expect(await page.locator('.result svg').first().boundingBox()).toEqual(before)
    await expect.poll(running).toBeGreaterThan(0)
    await cancel.click()
    await page.getByRole('alert').getByText('Cancelled.').waitFor()
    await expect.poll(running).toBe(0)
    // And so is one whose page is left.
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(running).toBeGreaterThan(0)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Dashboards' }).click()
    await expect.poll(running).toBe(0)
    await page.context().close()
  })

  test('nothing jumps while a chart loads, is refreshed, or becomes another one', async () => {
    const page = await web.signedIn()
    await page.addInitScript(`
      globalThis.shifts = 0
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) globalThis.shifts += value
      }).observe({ type: 'layout-shift', buffered: true })`)
    const shifts = () => page.evaluate<number>('new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(shifts))))')
    await show(page, { kind: 'TrendsQuery', series: [node('$pageview')], interval: 'day', dateRange, trendsFilter: {} })
    await page.getByText(/^Computed/).waitFor()
    expect(await shifts()).toBeLessThan(0.02)
    await page.evaluate('globalThis.shifts = 0')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await answered(page)
    await page.getByLabel('Interval', { exact: true }).selectOption('week')
    await answered(page)
    await page.getByLabel('Chart', { exact: true }).selectOption('ActionsBar')
    await answered(page)
    expect(await shifts()).toBeLessThan(0.02)
    await page.context().close()
  })

  test('days are those of the project', async () => {
    const project = await web.api<{ id: number; api_token: string }>('POST', '/api/projects/', {
      name: 'Auckland',
      timezone: 'Pacific/Auckland',
    })
    // The evening of the 14th in London is the morning of the 15th in Auckland.
    const happened = (timestamp: string) => ({ event: 'seen', distinct_id: 'kiwi', timestamp, properties: {} })
    await capture(project.api_token, [happened('2026-06-14T20:00:00Z'), happened('2026-06-15T13:00:00Z'), happened('2026-06-15T20:00:00Z')])
    await stored(project.id, 3)
    const page = await web.signedIn()
    await show(
      page,
      { kind: 'TrendsQuery', series: [node('seen')], interval: 'day', dateRange: { date_from: '2026-06-14', date_to: '2026-06-16' } },
      project.id,
    )
    await openNumbers(page)
    const table = page.getByRole('region', { name: 'Numbers' })
    expect(await table.locator('th').allInnerTexts()).toEqual(['Series', 'Total', '14 Jun', '15 Jun', '16 Jun'])
    expect(await table.locator('td').allInnerTexts()).toEqual(['seen', '3', '0', '1', '2'])
    const kept = {
      kind: 'RetentionQuery',
      dateRange: { date_from: '2026-06-14', date_to: '2026-06-16' },
      retentionFilter: { period: 'Day', totalIntervals: 3 },
    }
    await show(page, kept, project.id)
    expect(await page.getByRole('region', { name: 'Retention' }).locator('tbody th').allInnerTexts()).toEqual([
      '14 Jun',
      '15 Jun',
      '16 Jun',
    ])
    await chooseDates(page, 'Last 30 days')
    await datesButton(page).click()
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Auckland' }).format(Date.now())
    expect((await page.getByLabel('Last day').inputValue()) >= today).toBe(true)
    await page.context().close()
  })

  test('a day is typed whole before anything is asked', async () => {
    const page = await web.signedIn()
    await show(page, {
      kind: 'TrendsQuery',
      series: [node('$pageview')],
      interval: 'month',
      dateRange: { date_from: '2026-02-01', date_to: '2026-06-30' },
    })
    const asked: string[] = []
    page.on('request', (request) => {
      const day = /"date_from":"(.*?)"/.exec(request.postData() ?? '')?.[1]
      if (day) asked.push(day)
    })
    await datesButton(page).click()
    const first = page.getByLabel('First day')
    await first.focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.type('2025') // by key, year 2 is a date as well
    await expect.poll(() => asked).toEqual(['2025-02-01'])
    await page.keyboard.press('Backspace')
    await first.blur()
    expect(await first.inputValue()).toBe('2025-02-01')
    await page.context().close()
  })

  test('by keyboard only, from signing in to a chart with a breakdown and the people behind it', async () => {
    await web.signedIn().then((page) => page.context().close()) // the owner has a password
    const page = await web.page()
    const { keyboard } = page
    const focused = () =>
      page.evaluate<string>(`(() => {
        const one = document.activeElement
        return one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent ?? ''
      })()`)
    const tabTo = async (name: RegExp) => {
      for (let i = 0; i < 120; i++) {
        if (name.test((await focused()).trim())) return
        await keyboard.press('Tab')
      }
      throw new Error(`Nothing named ${name} gets the focus.`)
    }
    await page.goto(web.facts.url)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await tabTo(/^E-mail address$/)
    await keyboard.type(owner.email)
    await tabTo(/^Password$/)
    await keyboard.type(owner.password)
    await keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await keyboard.press('Control+k')
    await keyboard.type('demo shop')
    await keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/project/${web.demo}/`))
    await keyboard.press('Control+k')
    await keyboard.type('insights')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Insights' }).waitFor()
    await tabTo(/^New: Trends/)
    await keyboard.press('Enter')
    await answered(page)
    await tabTo(/^Event A$/)
    await keyboard.press('Control+a')
    await keyboard.type('$pageview')
    await keyboard.press('Enter')
    await tabTo(/^\+ Add a breakdown$/)
    await keyboard.press('Enter')
    // What was added is filled in next.
    await expect.poll(focused).toMatch(/^Property of the breakdown$/)
    await keyboard.type('$browser')
    await keyboard.press('Enter')
    await page.getByRole('img', { name: /^Line chart: Trends\. [2-9] series/ }).waitFor()
    await tabTo(/^Values by interval/)
    await keyboard.press('ArrowLeft')
    await keyboard.press('ArrowLeft')
    await keyboard.press('Enter')
    await page.getByRole('dialog').locator('.people tr').or(page.getByText('Nobody')).first().waitFor()
    await keyboard.press('Escape')
    await dialogClosed(page)
    await page.context().close()
  })

  test('commands that follow each other faster than the page changes', async () => {
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/live`)
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('demo shop')
    // The second key comes before the browser has told the page of its new address.
    await page.evaluate(`(async () => {
      const press = (key, more) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ...more }))
      press('Enter')
      for (let i = 0; i < 5; i++) await null
      press('k', { ctrlKey: true })
    })()`)
    await page.keyboard.type('insights')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Insights' }).waitFor()
    expect(page.url()).toContain(`/project/${web.demo}/insights`)
    await page.context().close()
  })

  test('light and dark are accessible, with dialogs and tables open', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await web.signedIn()
      await page.emulateMedia({ colorScheme })
      const findings = async (what: string) => expect(await accessibilityFindings(page), `${what}, ${colorScheme}`).toEqual([])
      await show(page, byCountry)
      await page.locator('.world path').first().waitFor()
      await findings('map')
      await show(page, {
        kind: 'TrendsQuery',
        series: [node('$pageview', { math: 'avg', math_property: '$screen_width' }), node('purchase', { custom_name: 'Sold' })],
        dateRange,
        interval: 'day',
        compareFilter: { compare: true },
        trendsFilter: { formulaNodes: [{ formula: 'A / 2', custom_name: 'Half' }] },
        properties: {
          type: 'OR',
          values: [
            { type: 'AND', values: [{ key: '$browser', type: 'event', operator: 'exact', value: ['Chrome'] }] },
            { type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'is_set', value: 'is_set' }] },
          ],
        },
      })
      await openNumbers(page)
      await findings('builder')
      await page.getByRole('button', { name: 'Query', exact: true }).click()
      await findings('query')
      await page.keyboard.press('Escape')
      await show(page, {
        kind: 'FunnelsQuery',
        series: [node('$pageview'), node('purchase')],
        dateRange,
        breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' },
      })
      await page.getByRole('region', { name: 'Steps' }).getByRole('button').first().click()
      await page.getByRole('dialog').locator('.people tr').first().waitFor()
      await findings('funnel and people')
      await page.context().close()
    }
  })

  test('addresses with odd queries are refused by the API in its words, and the page stays', async () => {
    const page = await web.signedIn()
    const odd: readonly object[] = [
      { series: 'x' },
      { series: [null, 5, []] },
      { series: [{ kind: 'EventsNode', event: { a: 1 }, math: ['dau'], properties: 'x' }] },
      { properties: 'x' },
      { properties: [null, { type: 'event', key: 7, operator: {}, value: { a: [1] } }] },
      { properties: { type: 'OR', values: [{ type: 'AND', values: [{ type: 'OR', values: [] }] }] } },
      { dateRange: 5, interval: {}, trendsFilter: 'x', breakdownFilter: [] },
      { dateRange: { date_from: { a: 1 } }, trendsFilter: { display: [], formulaNodes: [null, 'x'] }, compareFilter: 1 },
      { breakdownFilter: { breakdowns: [null, 'x', { property: {} }] } },
      { kind: 'FunnelsQuery', series: [1, 2], funnelsFilter: { exclusions: [null], funnelVizType: 3 } },
      { kind: 'RetentionQuery', retentionFilter: { targetEntity: 'x', period: 4, totalIntervals: 'x' } },
      { kind: 'PathsQuery', pathsFilter: { includeEventTypes: [{}, null], excludeEvents: 'x' } },
      { kind: 'LifecycleQuery', series: [], lifecycleFilter: { toggledLifecycles: [{}] } },
      { kind: 'NoQuery' },
    ]
    for (const more of odd) {
      const query = { kind: 'TrendsQuery', series: [node('$pageview')], ...more }
      await page.goto('about:blank')
      await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?${new URLSearchParams({ q: JSON.stringify(query) })}`)
      await page.getByRole('form', { name: 'Question' }).or(page.getByText('The form cannot show this query.')).waitFor()
      await page.locator('.answer[aria-busy=false]').waitFor()
      const answer = page.locator('.answer .error-box, .answer .result, .answer .hint')
      await answer.first().waitFor()
      expect(await answer.first().textContent(), JSON.stringify(more)).not.toContain('This page failed')
    }
    web.complaints.splice(0, web.complaints.length, ...web.complaints.filter((text) => !/status of 400.*\/query\//.test(text)))
    await page.context().close()
  })

  test('names full of HTML are texts in legends, tips, tables, maps and lists of people', async () => {
    const evil = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>'
    const batch = ['a', 'b'].flatMap((who, i) =>
      [0, 1].map((minute) => ({
        event: minute === 0 ? evil : `${evil} again`,
        distinct_id: who,
        timestamp: new Date(Date.now() - (2 + i) * 86_400_000 + minute * 60_000).toISOString(),
        properties: {
          [evil]: evil,
          $geoip_country_code: i === 0 ? 'DE' : evil,
          $current_url: `https://a.test/${evil}`,
          $set: { email: `${who} ${evil}` },
        },
      })),
    )
    await capture(web.facts.project_api_key, batch)
    const project = web.facts.project_id
    await stored(project, batch.length)
    const page = await web.signedIn()
    const split = { breakdownFilter: { breakdown: evil, breakdown_type: 'event' } }
    const trend = (display: string, more: object = split) => ({
      kind: 'TrendsQuery',
      series: [node(evil, { custom_name: evil })],
      dateRange,
      interval: 'day',
      trendsFilter: { display },
      ...more,
    })
    const entity = { id: evil, name: evil, type: 'events' }
    const cases: readonly object[] = [
      ...['ActionsLineGraph', 'ActionsBar', 'ActionsPie', 'ActionsBarValue', 'ActionsTable', 'BoldNumber'].map((display) => trend(display)),
      trend('WorldMap', { breakdownFilter: byCountry.breakdownFilter }),
      { kind: 'FunnelsQuery', series: [node(evil), node(evil)], dateRange, ...split },
      {
        kind: 'RetentionQuery',
        dateRange,
        retentionFilter: { period: 'Day', totalIntervals: 3, targetEntity: entity, returningEntity: entity },
        ...split,
      },
      { kind: 'PathsQuery', dateRange, pathsFilter: { includeEventTypes: ['custom_event'] } },
      { kind: 'StickinessQuery', series: [node(evil)], dateRange, interval: 'day' },
    ]
    for (const query of cases) {
      await show(page, query, project)
      const what = JSON.stringify(query).slice(0, 80)
      for (const summary of await page.locator('.result details:not([open]) > summary').all()) await summary.click()
      const slider = page.getByRole('slider')
      if ((await slider.count()) > 0) {
        await slider.focus()
        await page.keyboard.press('ArrowRight')
        await page.keyboard.press('ArrowRight')
      }
      await settled(page)
      expect(await page.locator('main img, main script').count(), what).toBe(0)
      expect(await page.locator('.answer').textContent(), what).toContain('<img src=x')
    }
    await openNumbers(page)
    await page.getByRole('region', { name: 'Numbers' }).locator('tbody').getByRole('button').first().click()
    await page.getByRole('dialog').locator('.people tr').first().getByText('<img src=x').waitFor()
    expect(await page.evaluate('globalThis.hacked ?? null')).toBe(null)
    await page.context().close()
  })
})
