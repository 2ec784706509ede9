import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, chooseDates, datesButton, hasBrowser, openWeb, settled, type Web } from './browser.ts'

interface Insight {
  readonly id: number
  readonly short_id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly favorited: boolean
  readonly deleted: boolean
  readonly query: { readonly source: { readonly dateRange?: object; readonly variables?: object } }
}
interface Board {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly variables: object
  readonly tiles: readonly { readonly insight: Insight | null }[]
}

describe.skipIf(!hasBrowser)('insights and dashboards as documents', () => {
  let web: Web
  let page: Page
  const base = () => `/api/projects/${web.demo}/`
  const query = {
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'purchase', math: 'dau' }],
    interval: 'day',
    dateRange: { date_from: '-30d' },
    properties: [{ type: 'event', key: '$browser', operator: 'exact', value: ['Firefox'] }],
  }
  const statement = 'select count() as purchases from events where event = {variables.event} and timestamp > now() - interval 30 day'
  const made = (body: object) => web.api<Insight>('POST', `${base()}insights/`, { saved: true, ...body })
  const stored = ({ id }: { readonly id: number }) => web.api<Insight>('GET', `${base()}insights/${id}/`)
  const open = async (path: string) => {
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
    await settled(page)
  }
  const inMenu = async (name: string, label = 'More') => {
    await page.locator(`summary[aria-label="${label}"]`).click()
    await page.locator('.menu-of[open] .menu-list').getByRole('button', { name }).click()
  }
  const heading = (name: string) => page.getByRole('heading', { level: 1, name })
  /** Types into a text of the page that is a field once it is clicked. */
  const rewrite = async (label: string, text: string, key: string) => {
    await page.getByTitle(`Change: ${label}`).click()
    await page.getByLabel(label, { exact: true }).fill(text)
    await page.keyboard.press(key)
    await page.getByLabel(label, { exact: true }).waitFor({ state: 'detached' })
  }

  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    // The tag that is refused is an answer with status 400, which the browser notes.
    expect(web.complaints.filter((one) => !/status of 400.*\/insights\/\d+\/$/.test(one))).toEqual([])
  })

  test('an insight is read first; its name, description and tags are written where they stand', async () => {
    const insight = await made({ name: 'Buyers', query: { kind: 'InsightVizNode', source: query } })
    await open(`insights/${insight.short_id}`)
    await heading('Buyers').waitFor()
    await page.getByText('Unique people: purchase where Browser is “Firefox”').waitFor()
    expect(await page.getByRole('button', { name: 'Add a series' }).count()).toBe(0)
    expect(await accessibilityFindings(page)).toEqual([])

    await rewrite('Name', 'Buyers with Firefox', 'Enter')
    await heading('Buyers with Firefox').waitFor()
    // Escape takes back what was typed; the focus is on the name again.
    await rewrite('Name', 'nothing', 'Escape')
    expect((await stored(insight)).name).toBe('Buyers with Firefox')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Buyers with Firefox')
    await page.getByTitle('Change: Description').click()
    await page.getByLabel('Description').fill('Who bought\nin Firefox')
    await page.keyboard.press('Tab') // leaving the field saves
    await page.getByText('Who bought').waitFor()
    await page.getByRole('button', { name: 'Add a tag' }).click()
    await page.keyboard.type('Sales, q4')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove the tag q4' }).click()
    await page.getByRole('button', { name: 'Remove the tag q4' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Favorite/ }).click()
    await page.getByRole('button', { name: /^Favorite/, pressed: true }).waitFor()
    expect(await stored(insight)).toMatchObject({ description: 'Who bought\nin Firefox', tags: ['sales'], favorited: true })

    // A name that is refused stays in its field, with the reason.
    await page.getByRole('button', { name: 'Add a tag' }).click()
    await page.keyboard.type('"')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('A tag needs a letter or a digit').waitFor()
    await page.keyboard.press('Escape')
  })

  test('it is changed second: other dates are a look, until they are saved; the history has the question of before', async () => {
    const insight = await made({ name: 'Looks', query: { kind: 'InsightVizNode', source: query } })
    const range = async () => (await stored(insight)).query.source.dateRange
    await open(`insights/${insight.short_id}`)
    await chooseDates(page, 'Last 7 days')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('button', { name: 'Discard changes' }).waitFor({ state: 'detached' })
    expect(await datesButton(page).textContent()).toMatch(/Last 30 days$/)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Add a series' }).waitFor()
    await chooseDates(page, 'Last 14 days')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Save changes' }).waitFor({ state: 'detached' })
    expect(await range()).toEqual({ date_from: '-14d' })
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Add a series' }).waitFor({ state: 'detached' })

    await inMenu('History')
    const dialog = page.getByRole('dialog', { name: 'History' })
    await dialog.getByText('created it').waitFor()
    expect(await dialog.getByRole('listitem').allTextContents()).toMatchObject([
      expect.stringMatching(/^Ada changed the question/),
      expect.stringMatching(/created it/),
    ])
    await dialog.getByRole('button', { name: 'Show the one before' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await datesButton(page).textContent()).toMatch(/Last 30 days$/)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Save changes' }).waitFor({ state: 'detached' })
    expect(await range()).toEqual({ date_from: '-30d' })
  })

  test('its numbers and its picture are files, in its own words', async () => {
    const insight = await made({ name: 'To file/2', query: { kind: 'InsightVizNode', source: query } })
    await open(`insights/${insight.short_id}`)
    const download = async (what: string) => {
      const waiting = page.waitForEvent('download')
      await inMenu(what)
      const file = await waiting
      return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
    }
    const numbers = (await download('Download numbers (CSV)')).bytes.toString('utf8')
    const { results } = await web.api<{ results: { days: string[]; data: number[] }[] }>('POST', `${base()}query/`, { query })
    const [head, ...lines] = numbers.trim().split(/\r?\n/)
    expect(lines.length).toBe(results[0]!.days.length)
    const at = head!
      .replace('\ufeff', '')
      .split(',')
      .findIndex((name) => /value|count|data/.test(name))
    expect(lines.map((line) => Number(line.split(',')[at]))).toEqual(results[0]!.data)
    const svg = await download('Download picture (SVG)')
    expect(svg.name).toBe('To file 2.svg')
    expect(svg.bytes.toString('utf8')).toContain('<title>To file/2</title>')
    const png = await download('Download picture (PNG)')
    expect(png.name).toBe('To file 2.png')
    expect(png.bytes.subarray(1, 4).toString('latin1')).toBe('PNG')
    expect(png.bytes.readUInt32BE(16)).toBe(2000)
    // Drawn, not empty: a picture of one color is smaller.
    expect(png.bytes.length).toBeGreaterThan(10_000)
  })

  test('what is deleted comes back with Undo: an insight, a dashboard, a tile', async () => {
    const board = await web.api<Board>('POST', `${base()}dashboards/`, { name: 'Kept' })
    const insight = await made({ name: 'Gone', query: { kind: 'InsightVizNode', source: query }, dashboards: [board.id] })
    await open(`insights/${insight.short_id}`)
    await inMenu('Delete')
    await heading('Insights').waitFor()
    const saved = page.getByRole('region', { name: 'saved insights' })
    await saved.getByRole('link', { name: 'Buyers' }).waitFor()
    expect(await saved.getByRole('link', { name: 'Gone' }).count()).toBe(0)
    await page.getByRole('status').getByText('Gone is deleted.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await heading('Gone').waitFor()
    expect((await stored(insight)).deleted).toBe(false)

    await open(`dashboards/${board.id}`)
    const tile = page.getByRole('region', { name: 'Gone', exact: true })
    await inMenu('Remove from dashboard', 'More for Gone')
    await tile.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await tile.waitFor()
    await inMenu('Delete')
    await heading('Dashboards').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await heading('Kept').waitFor()
    await tile.waitFor()
  })

  test('the list has favorites, the own ones, kinds and tags; a copy is opened to be changed', async () => {
    const steps = ['$pageview', 'purchase'].map((event) => ({ kind: 'EventsNode', event }))
    const one = await made({
      name: 'A funnel',
      tags: ['growth'],
      query: { kind: 'InsightVizNode', source: { kind: 'FunnelsQuery', series: steps } },
    })
    await made({ name: 'Liked', tags: ['growth', 'liked'], favorited: true, query: { kind: 'InsightVizNode', source: query } })
    await open('insights')
    const names = async () =>
      (await page.getByRole('region', { name: 'saved insights' }).locator('tbody td a').allTextContents()).filter((text) => text !== 'Edit')
    await page.getByRole('button', { name: 'growth' }).first().click()
    await expect.poll(names).toEqual(['Liked', 'A funnel'])
    await page.getByLabel('Whose insights').selectOption({ label: 'Favorites' })
    await expect.poll(names).toEqual(['Liked'])
    await page.getByLabel('Whose insights').selectOption({ label: 'Created by me' })
    await page.getByLabel('Kind of insights').selectOption({ label: 'Funnel' })
    await expect.poll(names).toEqual(['A funnel'])
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Without the tag growth' }).click()
    await page.getByRole('button', { name: 'Favorite: A funnel' }).click()
    await expect.poll(async () => (await stored(one)).favorited).toBe(true)
    await inMenu('Duplicate', 'More for A funnel')
    await heading('A funnel (copy)').waitFor()
    await page.getByRole('button', { name: 'Done' }).waitFor()
  })

  test('a statement with variables: written, looked at with other values, and on a dashboard', async () => {
    const count = async (event: string) => {
      const { results } = await web.api<{ results: [[number]] }>('POST', `${base()}query/`, {
        query: { kind: 'HogQLQuery', query: statement, variables: { event: { code_name: 'event', value: event } } },
      })
      return results[0][0]
    }
    const shows = async (event: string, within = page.getByRole('region', { name: 'Answer' })) => {
      const number = String(await count(event))
      await expect
        .poll(async () =>
          (
            await within
              .getByRole('img')
              .first()
              .textContent()
              .catch(() => '')
          )?.replaceAll(',', ''),
        )
        .toContain(number)
    }
    await open(`sql?q=${encodeURIComponent(statement)}`)
    const variables = page.getByRole('group', { name: 'Variables' })
    await variables.getByLabel('event', { exact: true }).fill('purchase')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Run Ctrl/ }).click()
    await page.getByRole('status').getByText('1 row in').waitFor()
    await page.getByRole('tab', { name: 'Chart' }).click()
    await page.getByRole('button', { name: 'Save as insight' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Events of a kind')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').getByText('Saved: Events of a kind').waitFor()
    await page.getByRole('button', { name: 'Close', exact: true }).click()

    await open('insights?search=Events of a kind')
    await page.getByRole('link', { name: 'Events of a kind' }).click()
    await heading('Events of a kind').waitFor()
    await shows('purchase')
    expect(await accessibilityFindings(page)).toEqual([])
    await variables.getByLabel('event', { exact: true }).fill('$pageview')
    await page.keyboard.press('Enter')
    await shows('$pageview')
    await page.reload()
    await shows('$pageview')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Save changes' }).waitFor({ state: 'detached' })
    const { results } = await web.api<{ results: Insight[] }>('GET', `${base()}insights/?search=Events of a kind`)
    expect(results[0]!.query.source.variables).toEqual({ event: { code_name: 'event', value: '$pageview' } })

    const board = await web.api<Board>('POST', `${base()}dashboards/`, { name: 'With values', tiles: [{ insight: results[0]!.id }] })
    await open(`dashboards/${board.id}`)
    const tile = page.getByRole('region', { name: 'Events of a kind' })
    await shows('$pageview', tile)
    await variables.getByLabel('event', { exact: true }).fill('purchase')
    await page.keyboard.press('Enter')
    await shows('purchase', tile)
    const waiting = page.waitForEvent('download')
    await inMenu('Download numbers (CSV)', 'More for Events of a kind')
    expect((await readFile(await (await waiting).path(), 'utf8')).trim().split(/\r?\n/)[1]).toBe(String(await count('purchase')))
    await page.getByRole('button', { name: 'Keep for everybody' }).click()
    await expect
      .poll(async () => (await web.api<Board>('GET', `${base()}dashboards/${board.id}/`)).variables)
      .toMatchObject({ event: { code_name: 'event', value: 'purchase' } })
    await page.getByRole('button', { name: 'Keep for everybody' }).waitFor({ state: 'detached' })
    await shows('purchase', tile)
  })

  test('a dashboard of a template has an answer in each tile, from the events that there are', async () => {
    await open('dashboards')
    await page.getByRole('button', { name: 'New dashboard' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /^Shop/ }).click()
    expect(await accessibilityFindings(page)).toEqual([])
    const many = Number(/^\d+/.exec((await dialog.locator('summary').textContent())!.trim())![0])
    await dialog.getByRole('button', { name: 'Create' }).click()
    await heading('Shop').waitFor()
    const id = Number(/dashboards\/(\d+)/.exec(page.url())![1])
    const board = await web.api<Board>('GET', `${base()}dashboards/${id}/`)
    expect(board.tiles.length).toBe(many)
    for (const { insight } of board.tiles) {
      const tile = page.getByRole('region', { name: insight!.name, exact: true })
      await tile.scrollIntoViewIfNeeded()
      await tile.getByText('Computed').waitFor()
      expect(await tile.getByRole('alert').count()).toBe(0)
    }
    await rewrite('Name', 'Our shop', 'Enter')
    await rewrite('Description', 'What we sell', 'Control+Enter')
    await page.getByRole('button', { name: 'Add a tag' }).click()
    await page.keyboard.type('wall')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove the tag wall' }).waitFor()
    await inMenu('History')
    await page.getByRole('dialog', { name: 'History' }).getByText('renamed it from “Shop” to “Our shop”').waitFor()
    expect(await web.api<Board>('GET', `${base()}dashboards/${id}/`)).toMatchObject({
      name: 'Our shop',
      description: 'What we sell',
      tags: ['wall'],
    })
  })
})
