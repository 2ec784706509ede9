import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, settled, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('pages that follow the events', () => {
  let web: Web
  let page: Page
  let key: string
  const base = () => `/api/projects/${web.demo}/`
  const send = async (events: readonly { readonly event: string; readonly distinct_id: string }[]) => {
    const response = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: key, batch: events.map((one) => ({ ...one, properties: { $geoip_country_code: 'DE' } })) }),
    })
    expect(response.status).toBe(200)
  }

  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
    key = (await web.api<{ api_token: string }>('GET', base())).api_token
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('tiles in sight of a live dashboard have the events that arrive, and the others are not asked', async () => {
    const ofEvent = (event: string) => ({
      name: `Count of ${event}`,
      saved: true,
      query: {
        kind: 'InsightVizNode',
        source: {
          kind: 'TrendsQuery',
          series: [{ kind: 'EventsNode', event }],
          dateRange: { date_from: '-7d' },
          trendsFilter: { display: 'BoldNumber' },
        },
      },
    })
    const made = async (body: object) => (await web.api<{ id: number }>('POST', `${base()}insights/`, body)).id
    const [near, far] = [await made(ofEvent('rung')), await made(ofEvent('far away'))]
    const board = await web.api<{ id: number }>('POST', `${base()}dashboards/`, {
      name: 'On the wall',
      tiles: [
        { insight: near, layouts: { sm: { x: 0, y: 0, w: 6, h: 4 } } },
        { text: { body: 'Between them' }, layouts: { sm: { x: 0, y: 4, w: 6, h: 40 } } },
        { insight: far, layouts: { sm: { x: 0, y: 44, w: 6, h: 4 } } },
      ],
    })
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${board.id}`)
    await settled(page)
    const number = (name: string) => page.getByRole('region', { name }).getByRole('img').first().getAttribute('aria-label')
    await expect.poll(() => number('Count of far away')).toContain('Number')
    const asked: string[] = []
    const positions: number[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('response', async (response) => {
      if (response.url().includes('events/position')) positions.push(((await response.json()) as { position: number }).position)
    })
    await page.getByRole('button', { name: 'Live' }).click()
    await page.getByRole('button', { name: 'Live', pressed: true }).waitFor()
    await send([
      { event: 'rung', distinct_id: 'a' },
      { event: 'rung', distinct_id: 'b' },
      { event: 'far away', distinct_id: 'b' },
    ])
    await expect.poll(() => number('Count of rung')).toMatch(/\b2\b/)
    // Without new events the position is looked at, and no tile is asked.
    const looks = positions.length
    await expect.poll(() => positions.length).toBeGreaterThan(looks + 2)
    expect(asked.filter((url) => url.includes(`insights/${near}/`)).length).toBe(new Set(positions).size)
    expect(asked.filter((url) => url.includes(`insights/${far}/`))).toEqual([])
    await page.getByRole('region', { name: 'Count of far away' }).scrollIntoViewIfNeeded()
    await expect.poll(() => number('Count of far away')).toMatch(/\b1\b/)
    // A link to the wall opens it live.
    await page.reload()
    await page.getByRole('button', { name: 'Live', pressed: true }).waitFor()
    await page.getByRole('button', { name: 'Live' }).click()
    await page.getByRole('button', { name: 'Live', pressed: false }).waitFor()
  })

  test('the live page says who is online, and from where', async () => {
    const online = async () => {
      const query = { kind: 'HogQLQuery', query: 'select uniq(person_id) from events where timestamp > now() - interval 5 minute' }
      return (await web.api<{ results: [[number]] }>('POST', `${base()}query/`, { query, refresh: 'force_blocking' })).results[0][0]
    }
    await page.goto(`${web.facts.url}/#/project/${web.demo}/live`)
    const now = page.getByRole('region', { name: 'Now' })
    await now.getByText(/online/).waitFor()
    await send(['c', 'd', 'e'].map((distinct_id) => ({ event: 'rung', distinct_id })))
    await expect.poll(async () => (await now.textContent())!.includes(`${await online()} people online`)).toBe(true)
    await now.getByRole('slider', { name: /People by country/ }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('Ctrl K finds what the project has, and ? shows the keys', async () => {
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights`)
    await page.getByRole('heading', { name: 'Insights' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('On the wall')
    const dialog = page.getByRole('dialog', { name: 'Commands' })
    await dialog.getByRole('group', { name: 'Dashboards' }).getByRole('option', { name: 'On the wall' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'On the wall' }).waitFor()

    await page.keyboard.press('Control+k')
    await page.keyboard.type('rung')
    await dialog.getByRole('group', { name: 'Insights' }).getByRole('option', { name: 'Count of rung' }).waitFor()
    await dialog.getByRole('group', { name: 'Events' }).getByRole('option', { name: 'rung' }).click()
    await page.getByRole('heading', { level: 1, name: 'Trends' }).waitFor()
    expect(decodeURIComponent(page.url())).toContain('"event":"rung"')
    // A slip of the finger is forgiven.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('dashbaords')
    await dialog.getByRole('option', { name: 'Go to Dashboards' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    // The focus is not in a field.
    await page.locator('main').focus()
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keys' })
    await keys.getByText('Runs the statement').waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
  })
})
