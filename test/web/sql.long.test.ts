import { readFile } from 'node:fs/promises'
import { tableFromIPC } from 'apache-arrow'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, chooseDates, dialogClosed, hasBrowser, openWeb, type Web } from './browser.ts'

// For polls: what is only slow because others have the cores goes on.
const slow = { timeout: 60_000 }

interface Rows {
  readonly results: readonly (readonly unknown[])[]
}

describe.skipIf(!hasBrowser)('statements in a browser', () => {
  let web: Web
  let page: Page
  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  })
  afterAll(async () => {
    await web.close()
    // A refused statement is an answer with status 400, which the browser notes.
    expect(web.complaints.filter((one) => !/status of 400.*\/query\//.test(one))).toEqual([])
  })
  const open = async (search = '') => {
    await page.goto(`${web.facts.url}/#/project/${web.demo}/sql${search}`)
    await page.reload()
    await editor().waitFor()
  }
  const editor = () => page.getByRole('textbox', { name: 'SQL statement' })
  const write = async (statement: string) => {
    await editor().click()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText(statement)
  }
  const run = async (statement: string) => {
    await write(statement)
    await page.keyboard.press('Control+Enter')
  }
  const grid = () => page.getByRole('grid', { name: 'Rows' })
  const asked = (statement: string) =>
    web.api<Rows>('POST', `/api/projects/${web.demo}/query/`, { query: { kind: 'HogQLQuery', query: statement } })

  test('rows are those of the API, also as a chart; the statement is in the address', async () => {
    await open()
    const statement = 'select event, count() as n from events group by event order by event'
    await run(statement)
    const { results } = await asked(statement)
    await expect.poll(() => grid().getByRole('gridcell').allTextContents(), slow).toEqual(results.flat().map(String))
    expect(await grid().getByRole('columnheader').allTextContents()).toEqual(['eventString', 'nUInt64'])
    await expect.poll(() => new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('q'), slow).toBe(statement)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Copy rows' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(['event\tn', ...results.map((row) => row.join('\t'))].join('\n'))
    await page.getByRole('tab', { name: 'Chart' }).click()
    const chart = page.getByRole('img', { name: /^Bar chart/ })
    await chart.waitFor()
    const [first, last] = [results[0]![0], results.at(-1)![0]]
    expect(await chart.getAttribute('aria-label')).toContain(`${results.length} intervals, from ${first} to ${last}: n.`)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.reload()
    await expect.poll(() => editor().textContent(), slow).toBe(statement)
  })

  test('the demo project has a view, and a chart and a table on its dashboard that read it', async () => {
    await open()
    await page.getByRole('tab', { name: 'Saved' }).click()
    await page.getByRole('link', { name: 'orders', exact: true }).click()
    await expect.poll(() => editor().textContent(), slow).toContain("where event = 'purchase'")
    const { results: boards } = await web.api<{ results: { id: number; name: string }[] }>('GET', `/api/projects/${web.demo}/dashboards/`)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${boards.find(({ name }) => name === 'The shop')!.id}`)
    const tile = (name: string) => page.getByRole('region', { name, exact: true })
    const since = "where event = 'purchase' and timestamp >= toStartOfDay(now()) - interval 30 day"
    const categories = await asked(`select properties.category as category from events ${since} group by category`)
    await tile('Revenue by category').scrollIntoViewIfNeeded()
    await tile('Revenue by category')
      .getByRole('img', { name: new RegExp(`^Bar chart: Revenue by category\\..* ${categories.results.length} intervals`) })
      .waitFor()
    const best = await asked(
      `select person.properties.email as customer, sum(toFloat(properties.$revenue)) as revenue from events ${since} group by customer order by revenue desc limit 1`,
    )
    await tile('Best customers').scrollIntoViewIfNeeded()
    await tile('Best customers').getByText(String(best.results[0]![0])).first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights`)
    await page.getByRole('row', { name: /Best customers SQL/ }).waitFor()
  })

  test('a mistake is marked where it is, and mended by its own button', async () => {
    await open()
    await write('select evnt,\n  cont() from events')
    const marks = page.locator('.cm-lintRange-error')
    await expect.poll(() => marks.allTextContents(), slow).toEqual(['evnt', 'cont()'])
    await marks.first().hover()
    await page.getByRole('button', { name: /Replace by event/ }).click()
    await expect.poll(() => marks.allTextContents(), slow).toEqual(['cont()'])
    await expect.poll(() => editor().textContent(), slow).toContain('select event,')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('alert').getByText("Unsupported function call 'cont(...)'").waitFor()
    await expect.poll(() => marks.allTextContents(), slow).toEqual(['cont()'])
    // All errors of a statement, each with its line.
    await run('select evnt,\n  cont() from events')
    await page.getByText("Line 2: Unsupported function call 'cont(...)'").waitFor()
    await expect.poll(() => marks.allTextContents(), slow).toEqual(['evnt', 'cont()'])
  })

  test('names are completed from the project, by keyboard only', async () => {
    await open()
    await write('select properties.$brow from events')
    await page.keyboard.press('Home')
    for (let i = 0; i < 'select properties.$brow'.length; i++) await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Control+Space')
    const option = page.getByRole('option', { name: /^\$browser/ })
    await option.first().waitFor()
    await expect.poll(() => option.first().getAttribute('aria-selected'), slow).toBe('true')
    // For 75 ms after it has appeared the list leaves Enter to the text.
    await page.waitForTimeout(150)
    await page.keyboard.press('Enter')
    await expect.poll(() => editor().textContent(), slow).toMatch(/^select properties\.\$browser\s*from events$/)
  })

  test('thousands of rows: few of them in the document, all of them by keys', async () => {
    await open()
    const statement = 'select uuid, timestamp from events order by uuid limit 4000'
    await run(`${statement}`)
    await page.getByText(/^\d,\d{3} rows in/).waitFor()
    const count = (await asked(statement)).results.length
    expect(Number(await grid().getAttribute('aria-rowcount'))).toBe(count + 1)
    expect(await grid().getByRole('row').count()).toBeLessThan(80)
    await grid().focus()
    await page.keyboard.press('Control+End')
    const last = String((await asked(`select uuid from events order by uuid limit 1 offset ${count - 1}`)).results[0]![0])
    await grid().getByText(last).waitFor()
    await page.keyboard.press('Control+c')
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()'), slow).toBe(last)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText(last).waitFor()
    await page.keyboard.press('Escape')
    await dialogClosed(page)
  })

  test('all rows as a file, beyond the limit of an answer', async () => {
    await open()
    const { results } = await asked('select count() from events')
    await run('select uuid, event from events')
    await page.getByText('100 rows in').waitFor()
    await page.getByText('There are more.').waitFor()
    const file = async (label: string) => {
      const waiting = page.waitForEvent('download')
      await page.getByLabel('Download all rows').selectOption({ label })
      return readFile(await (await waiting).path())
    }
    const count = Number(results[0]![0])
    expect(
      String(await file('CSV, exact'))
        .trim()
        .split('\n'),
    ).toHaveLength(count + 1)
    expect(
      String(await file('JSON lines'))
        .trim()
        .split('\n'),
    ).toHaveLength(count)
    expect(tableFromIPC(await file('Arrow')).numRows).toBe(count)
    expect((await file('Parquet')).subarray(0, 4).toString()).toBe('PAR1')
  })

  test('a statement in the background: its answer comes after the page was loaded anew; another one is cancelled', async () => {
    await open()
    const statement = 'select sum(a.number * b.number) > 0 as heavy from numbers(300) a cross join numbers(30000) b'
    await write(statement)
    await page.getByRole('button', { name: 'Run in background' }).press('Enter')
    const bar = page.getByRole('region', { name: 'In the background' })
    await bar.getByText(statement).waitFor()
    await page.reload()
    await grid()
      .getByRole('gridcell', { name: /^(true|1)$/ })
      .waitFor()
    await bar.waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: statement }).waitFor()

    await write('select evnt from events')
    await page.getByRole('button', { name: 'Run in background' }).press('Enter')
    await page.getByRole('alert').getByText('evnt').waitFor()
    await expect.poll(() => page.locator('.cm-lintRange-error').allTextContents(), slow).toEqual(['evnt'])

    await write('select count() from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = 8')
    await page.getByRole('button', { name: 'Run in background' }).press('Enter')
    await bar.getByText(/^Running/).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    const cancelled = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
    await bar.getByRole('button', { name: 'Cancel' }).click()
    expect((await cancelled).status()).toBeLessThan(300)
    await bar.waitFor({ state: 'detached' })
  })

  test('what a download is refused for is said on the page', async () => {
    await open()
    await run('select 1')
    await page.getByText('1 row in').waitFor()
    await page.route('**/query/export/', (route) => route.fulfill({ status: 403, json: { detail: 'Downloads are off.' } }))
    await page.getByLabel('Download all rows').selectOption({ label: 'CSV, exact' })
    await page.getByRole('alert').getByText('Downloads are off.').waitFor()
    await page.unroute('**/query/export/')
    web.complaints.splice(0, web.complaints.length, ...web.complaints.filter((one) => !/status of 403/.test(one)))
  })

  test('a slow statement is cancelled, and ends on the server', async () => {
    await open()
    await run('select count() as heavy from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = 8')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('alert').getByText('Cancelled.').waitFor()
    await run('select 7 as seven')
    await grid().getByRole('gridcell', { name: '7', exact: true }).waitFor()
  })

  test('a saved query is read by another one, renamed, changed and deleted', async () => {
    await open()
    await write("select event, 1 as one from events where event = 'purchase'")
    await page.getByRole('button', { name: 'Save as', exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill('purchases')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'SQL: purchases' }).waitFor()
    await page.getByRole('tab', { name: 'Saved' }).click()
    await page.getByRole('link', { name: 'purchases' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await run('select sum(one) as n from purchases')
    const { results } = await asked("select count() from events where event = 'purchase'")
    await expect.poll(() => grid().getByRole('gridcell').allTextContents(), slow).toEqual([String(results[0]![0])])
    await page.getByRole('button', { name: 'Rename purchases' }).click()
    await page.getByLabel('Name', { exact: true }).fill('buyers')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'buyers' }).click()
    await page.getByRole('heading', { name: 'SQL: buyers' }).waitFor()
    await write('select 2 as two')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Save changes' }).waitFor({ state: 'detached' })
    expect((await asked('select * from buyers')).results).toEqual([[2]])
    await page.getByRole('tab', { name: 'Saved' }).click()
    await page.getByRole('button', { name: 'Delete buyers' }).click()
    await page.getByRole('link', { name: 'buyers' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'buyers' }).waitFor()
    expect((await asked('select * from buyers')).results).toEqual([[2]])
    await page.getByRole('button', { name: 'Delete buyers' }).click()
    await page.getByRole('link', { name: 'buyers' }).waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: 'select sum(one) as n from purchases' }).click()
    await expect.poll(() => editor().textContent(), slow).toBe('select sum(one) as n from purchases')
  })

  test('a chart is kept as an insight on a dashboard, and opens from there as a statement', async () => {
    await open()
    const statement = 'select toDate(timestamp) as day, count() as n from events where {filters} group by day order by day'
    await run(statement)
    await page.getByRole('tab', { name: 'Chart' }).click()
    await page.getByRole('img', { name: /^Line chart/ }).waitFor()
    await web.api('POST', `/api/projects/${web.demo}/dashboards/`, { name: 'Numbers' })
    await page.getByRole('button', { name: 'Save as insight' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Events per day')
    await page.getByRole('checkbox', { name: 'Numbers' }).check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('link', { name: 'Open the dashboard' }).click()
    const tile = page.getByRole('region', { name: 'Events per day' })
    const intervals = async () => (await tile.getByRole('img').getAttribute('aria-label'))?.match(/over (\d+) intervals/)?.[1]
    const { results } = await asked('select count(distinct toDate(timestamp)) from events')
    await expect.poll(intervals, slow).toBe(String(results[0]![0]))
    await chooseDates(page, 'Last 7 days', 'Dates of all tiles')
    const { results: week } = await web.api<Rows>('POST', `/api/projects/${web.demo}/query/`, {
      query: { kind: 'HogQLQuery', query: statement, filters: { dateRange: { date_from: '-7d' } } },
    })
    await expect.poll(intervals, slow).toBe(String(week.length))
    await tile.getByRole('link', { name: 'Events per day' }).click()
    await page.getByRole('heading', { level: 1, name: 'Events per day' }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('img', { name: /^Line chart/ }).waitFor()
    expect(await editor().textContent()).toBe(statement)
  })

  test('explain shows the tables at the bottom, tables and columns are written by a click', async () => {
    await open()
    await write('select  from events')
    await page.keyboard.press('Home')
    for (let i = 0; i < 'select '.length; i++) await page.keyboard.press('ArrowRight')
    await page.getByLabel('Search tables and columns').fill('distinct_id')
    await page.getByRole('complementary').getByRole('button', { name: 'distinct_id', exact: true }).first().click()
    await expect.poll(() => editor().textContent(), slow).toBe('select distinct_id from events')
    await page.getByRole('button', { name: 'Explain' }).click()
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.locator('.plan strong').allTextContents(), slow).toEqual(['Limit', 'Select', 'Read events'])
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('values full of HTML are text, narrow and dark too', async () => {
    const name = '<img src=x onerror=document.title=1>'
    await page.setViewportSize({ width: 360, height: 740 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await open(`?q=${encodeURIComponent(`select '${name}' as "${name}", 1 as n`)}`)
    await page.getByRole('button', { name: /^Run(?! in)/ }).click()
    await grid().getByRole('gridcell', { name }).waitFor()
    await page.getByRole('tab', { name: 'Chart' }).click()
    await page.getByRole('img', { name: /^Bar chart/ }).waitFor()
    expect(await page.title()).toBe('SQL · Waymark')
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    expect(await accessibilityFindings(page)).toEqual([])
  })
})
