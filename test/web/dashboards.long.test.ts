import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, chooseDates, hasBrowser, openWeb, type Web } from './browser.ts'

// For polls: what is only slow because others have the cores goes on.
const slow = { timeout: 60_000 }

interface Tile {
  readonly id: number
  readonly layouts: Readonly<
    Partial<Record<'sm' | 'xs', { readonly x: number; readonly y: number; readonly w: number; readonly h: number }>>
  >
  readonly insight: { readonly name: string } | null
  readonly text: { readonly body: string } | null
}
interface Board {
  readonly id: number
  readonly name: string
  readonly pinned: boolean
  readonly filters: object
  readonly tiles: readonly Tile[]
}

const evil = '<img src=x onerror="document.title=1"> <b>bold</b>'

describe.skipIf(!hasBrowser)('dashboards in a browser', () => {
  let web: Web
  let page: Page
  let board: Board
  const base = () => `/api/projects/${web.demo}/`
  const trend = (event: string, display: string) => ({
    kind: 'InsightVizNode',
    source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event }], dateRange: { date_from: '-30d' }, trendsFilter: { display } },
  })
  const stored = () => web.api<Board>('GET', `${base()}dashboards/${board.id}/`)
  const tile = (name: string) => page.getByRole('region', { name, exact: true })

  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
    board = await web.api('POST', `${base()}dashboards/`, { name: 'Sales' })
    const queries: readonly (readonly [string, object])[] = [
      ['Purchases', trend('purchase', 'BoldNumber')],
      [evil, trend('$pageview', 'ActionsLineGraph')],
      [
        'Latest',
        { kind: 'DataTableNode', source: { kind: 'EventsQuery', select: ['event'], event: 'purchase', after: '-30d', limit: 1000 } },
      ],
      [
        'Statement',
        { kind: 'DataTableNode', source: { kind: 'HogQLQuery', query: "select count() from events where event = 'purchase'" } },
      ],
      ['Broken', { kind: 'DataTableNode', source: { kind: 'HogQLQuery', query: "select toDateTime('x') from a_view_that_is_gone" } }],
    ]
    const view = await web.api<{ id: string }>('POST', `${base()}warehouse_saved_queries/`, {
      name: 'a_view_that_is_gone',
      query: { kind: 'HogQLQuery', query: 'select 1 as one' },
    })
    for (const [name, query] of queries) await web.api('POST', `${base()}insights/`, { name, query, saved: true, dashboards: [board.id] })
    await web.api('DELETE', `${base()}warehouse_saved_queries/${view.id}/`)
  })
  afterAll(async () => {
    await web.close()
    // The tile that fails is an answer with status 400, which the browser notes.
    expect(web.complaints.filter((one) => !/status of 400.*\/insights\/\d+\/\?from_dashboard/.test(one))).toEqual([])
  })
  const open = async (search = '') => {
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${board.id}${search}`)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: board.name }).waitFor()
  }
  const purchases = async (filters: object) => {
    const query = {
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'purchase' }],
      trendsFilter: { display: 'BoldNumber' },
      ...filters,
    }
    const { results } = await web.api<{ results: { aggregated_value: number }[] }>('POST', `${base()}query/`, { query })
    return results[0]!.aggregated_value
  }

  test('each tile has the answer of the API, its own error, and names as text', async () => {
    await open()
    const count = await purchases({ dateRange: { date_from: '-30d' } })
    await tile('Purchases')
      .getByRole('img', { name: new RegExp(`^Number: Purchases.*\\b${count}\\b`) })
      .waitFor()
    await tile(evil)
      .getByRole('img', { name: /^Line chart/ })
      .waitFor()
    await tile('Broken').getByRole('alert').getByText('a_view_that_is_gone').waitFor()
    expect(await page.title()).toBe('Sales · Waymark')
    expect(await page.locator('main img:not(svg)').count()).toBe(0)
    expect(await accessibilityFindings(page)).toEqual([])
    await tile('Purchases').getByRole('link', { name: 'Purchases' }).click()
    await page.getByRole('heading', { level: 1, name: 'Purchases' }).waitFor()
  })

  test('dates and filters hold for all tiles: of this look, then for everybody', async () => {
    await open()
    const within = async (days: number) => {
      const count = await purchases({ dateRange: { date_from: `-${days}d` } })
      await tile('Purchases')
        .getByRole('img', { name: new RegExp(`^Number: Purchases.*\\b${count}\\b`) })
        .waitFor()
    }
    await within(30)
    await chooseDates(page, 'Last 7 days', 'Dates of all tiles')
    await within(7)
    expect((await stored()).filters).toEqual({})
    await page.reload()
    await within(7)
    await page.getByRole('button', { name: 'Keep for everybody' }).click()
    await expect.poll(async () => (await stored()).filters, slow).toMatchObject({ date_from: '-7d' })
    await page.getByRole('button', { name: 'Keep for everybody' }).waitFor({ state: 'detached' })
    await within(7)
    await chooseDates(page, 'Default dates', 'Dates of all tiles')
    await within(30)
    await page.getByRole('button', { name: 'Reset' }).click()
    await within(7)
    const filtered = await purchases({
      dateRange: { date_from: '-7d' },
      properties: [{ key: '$browser', type: 'event', operator: 'exact', value: ['Firefox'] }],
    })
    await page.getByRole('button', { name: 'Filter all tiles' }).click()
    await page.getByLabel('Property', { exact: true }).fill('$browser')
    await page.getByLabel('Value', { exact: true }).fill('Firefox')
    await page.keyboard.press('Enter')
    await tile('Purchases')
      .getByRole('img', { name: new RegExp(`^Number: Purchases.*\\b${filtered}\\b`) })
      .waitFor()
    // The focus stays where somebody writes.
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'), slow).toBe('Value')
    await web.api('PATCH', `${base()}dashboards/${board.id}/`, { filters: {} })
  })

  test('a tile is moved and resized by keyboard and by pointer, and stays there', async () => {
    await open()
    await page.getByRole('button', { name: 'Edit layout' }).click()
    const at = async (name: string) => (await stored()).tiles.find(({ insight }) => insight?.name === name)?.layouts.sm
    const move = page.getByRole('button', { name: 'Move Purchases: arrow keys' })
    await move.focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => at('Purchases'), slow).toMatchObject({ x: 1, y: 0, w: 6, h: 5 })
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => at('Purchases'), slow).toMatchObject({ x: 0 })
    await page.getByRole('button', { name: 'Resize Purchases: arrow keys' }).focus()
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowLeft']) await page.keyboard.press(key)
    await expect.poll(() => at('Purchases'), slow).toMatchObject({ x: 0, y: 0, w: 5, h: 3 })
    const box = (await move.boundingBox())!
    await page.mouse.move(box.x + 5, box.y + 5)
    await page.mouse.down()
    await page.mouse.move(box.x + 5, box.y + 700, { steps: 4 })
    await page.mouse.up()
    await expect.poll(async () => ((await at('Purchases'))?.y ?? 0) > 0, slow).toBe(true)
    const places = (await stored()).tiles.map(({ layouts }) => layouts.sm)
    await page.reload()
    await tile('Purchases').waitFor()
    const shown = await page
      .locator('.tile')
      .evaluateAll((all) => all.map((one) => (one as unknown as { style: { gridArea: string } }).style.gridArea))
    expect(shown).toHaveLength(places.length)
    for (const { x, y, w, h } of places.filter((one) => one !== undefined))
      expect(shown).toContain(`${y + 1} / ${x + 1} / span ${h} / span ${w}`)
  })

  test('insights and texts are added, edited, taken off and brought back', async () => {
    await web.api('POST', `${base()}insights/`, { name: 'Visits', query: trend('$pageview', 'ActionsBar'), saved: true })
    await open()
    await page.getByRole('button', { name: 'Add insight' }).click()
    await page.getByLabel('Search saved insights').fill('visi')
    await page.getByRole('dialog').getByRole('button', { name: 'Visits' }).click()
    await page.getByRole('dialog').getByText('Added').first().waitFor()
    await page.keyboard.press('Escape')
    await tile('Visits').scrollIntoViewIfNeeded()
    await tile('Visits')
      .getByRole('img', { name: /^Bar chart/ })
      .waitFor()
    await page.getByRole('button', { name: 'Add text' }).click()
    await page.getByRole('textbox', { name: 'Text' }).fill(`# Growth\n\n- **one**\n- ${evil}\n\n[bad](javascript:alert(1))`)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const text = tile('Text')
    await text.getByRole('heading', { name: 'Growth' }).waitFor()
    expect(await text.locator('li').allTextContents()).toEqual(['one', evil])
    expect([await text.locator('img').count(), await text.locator('a').count()]).toEqual([0, 0])
    expect(await accessibilityFindings(page)).toEqual([])
    await text.getByLabel('More for Text').click()
    await text.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Text' }).fill('Changed')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await text.getByText('Changed').waitFor()
    await text.getByLabel('More for Text').click()
    await text.getByRole('button', { name: 'Remove from dashboard' }).click()
    await text.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await text.getByText('Changed').waitFor()
  })

  test('a public link: made, opened without an account, renewed, withdrawn', async () => {
    await open()
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = page.getByRole('dialog').getByRole('link')
    await link.waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    const first = await link.textContent()
    const stranger = await web.page()
    await stranger.goto(first!)
    await stranger.getByRole('heading', { name: 'Sales' }).waitFor()
    await page.getByRole('button', { name: /^Replace link/ }).click()
    await expect.poll(() => link.textContent(), slow).not.toBe(first)
    expect((await fetch(first!)).status).toBe(404)
    const second = await link.textContent()
    expect((await fetch(second!)).status).toBe(200)
    await page.getByRole('button', { name: 'Turn off link' }).click()
    await page.getByRole('button', { name: 'Create link' }).waitFor()
    expect((await fetch(second!)).status).toBe(404)
  })

  test('the list: search, pin, copy, delete, create', async () => {
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards`)
    const names = () => page.getByRole('region', { name: 'dashboards' }).locator('tbody a').allTextContents()
    await page.getByLabel('Search dashboards').fill('sal')
    await expect.poll(names, slow).toEqual(['Sales'])
    await page.getByLabel('More for Sales').click()
    await page.getByRole('button', { name: 'Duplicate' }).click()
    await expect.poll(names, slow).toEqual(['Sales', 'Sales (copy)'])
    await page.getByLabel('More for Sales (copy)').click()
    await page.getByRole('button', { name: 'Pin', exact: true }).click()
    await expect.poll(names, slow).toEqual(['Sales (copy)', 'Sales'])
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByLabel('More for Sales (copy)').click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await expect.poll(names, slow).toEqual(['Sales'])
    await page.getByRole('button', { name: 'New dashboard' }).click()
    await page.getByLabel('Name', { exact: true }).fill(evil)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: evil }).waitFor()
    await page.getByRole('heading', { name: 'This dashboard is empty' }).waitFor()
  })

  test('dates hold for lists of events too, and a statement without {filters} says that they do not', async () => {
    await open()
    const query = { kind: 'HogQLQuery', query: "select count() from events where event = 'purchase'" }
    const { results } = await web.api<{ results: [[number]] }>('POST', `${base()}query/`, { query })
    const hasNumber = async () =>
      (await tile('Statement').getByRole('img').first().textContent())!.replaceAll(',', '').includes(String(results[0][0]))
    const latest = () => tile('Latest').locator('svg text', { hasText: 'purchase' }).count()
    await tile('Statement').scrollIntoViewIfNeeded()
    await expect.poll(hasNumber, slow).toBe(true)
    expect(await tile('Statement').getByText('do not change it').count()).toBe(0)
    await tile('Latest').scrollIntoViewIfNeeded()
    await expect.poll(latest, slow).toBeGreaterThan(0)
    const range = { date_from: '2020-01-01', date_to: '2020-01-02' }
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${board.id}?filters=${encodeURIComponent(JSON.stringify(range))}`)
    await expect.poll(latest, slow).toBe(0)
    await tile('Statement').getByText('Its statement does not contain {filters}').waitFor()
    await expect.poll(hasNumber, slow).toBe(true)
    expect(await tile('Latest').getByText('do not change it').count()).toBe(0)
  })

  test('full screen, and back', async () => {
    await open()
    const isFull = () => page.evaluate('document.fullscreenElement !== null')
    expect(await isFull()).toBe(false)
    await page.getByRole('button', { name: 'Full screen' }).click()
    await page.locator('.wall .tile').first().waitFor()
    await expect.poll(isFull, slow).toBe(true)
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Leave full screen' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(isFull, slow).toBe(false)
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(true)
  })

  test('on a narrow screen: another order by buttons, keys and touch; the wide one stays', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await open()
    const places = async (layout: 'sm' | 'xs') => (await stored()).tiles.map(({ id, layouts }) => ({ id, ...layouts[layout] }))
    const wideBefore = await places('sm')
    const order = () => page.locator('.tile').evaluateAll((all) => all.map((one) => (one as { ariaLabel?: string | null }).ariaLabel))
    const storedOrder = async () =>
      [...(await stored()).tiles]
        .sort((a, b) => (a.layouts.xs?.y ?? 0) - (b.layouts.xs?.y ?? 0))
        .map(({ insight }) => insight?.name ?? 'Text')
    const before = await order()
    expect(before.length).toBeGreaterThan(3)
    const [first, second] = [before[0]!, before[1]!]
    await page.getByRole('button', { name: 'Edit layout' }).click()
    await tile(first).getByLabel(`More for ${first}`).click()
    await tile(first).getByRole('button', { name: 'Move down' }).click()
    await expect.poll(order, slow).toEqual([second, first, ...before.slice(2)])
    await tile(first).getByLabel(`More for ${first}`).click()
    expect(await tile(first).getByRole('button', { name: 'Wider' }).count()).toBe(0)
    await tile(first).getByRole('button', { name: 'Taller' }).click()
    await expect.poll(async () => (await places('xs')).map(({ x, w }) => `${x} ${w}`), slow).toEqual(before.map(() => '0 1'))
    expect(await places('sm')).toEqual(wideBefore)
    // By key.
    await page.getByRole('button', { name: `Move ${first}: arrow keys` }).focus()
    await page.keyboard.press('ArrowUp')
    await expect.poll(order, slow).toEqual(before)
    await expect.poll(storedOrder, slow).toEqual(before)
    // By touch: the first goes below the second.
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    const handle = page.getByRole('button', { name: `Move ${first}: arrow keys` })
    await handle.scrollIntoViewIfNeeded()
    const box = (await handle.boundingBox())!
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] })
    for (const by of [100, 250, 400]) await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x, y: y + by }] })
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await expect.poll(storedOrder, slow).not.toEqual(before)
    const moved = await storedOrder()
    await page.reload()
    await expect.poll(order, slow).toEqual(moved)
    expect(await places('sm')).toEqual(wideBefore)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('narrow and dark: one column', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await open()
    await tile('Purchases').waitFor()
    const lefts = await page.locator('.tile').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left))
    expect(new Set(lefts).size).toBe(1)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    expect(await accessibilityFindings(page)).toEqual([])
  })
})
