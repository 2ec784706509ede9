import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page as Browsed } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { program } from '../harness/programs.ts'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

interface Page<T> {
  readonly count: number
  readonly results: T[]
}

const attack = '<img src=x onerror="document.title=1"> & <script>1</script>'

describe.skipIf(!hasBrowser)('data and web analytics in a browser', () => {
  let web: Web
  let at: (path: string) => string
  let project: string
  beforeAll(async () => {
    web = await openWeb()
    at = (path) => `${web.facts.url}/#/project/${web.demo}/${path}`
    project = `/api/projects/${web.demo}`
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const capture = async (events: readonly object[]) => {
    const { api_token } = await web.api<{ api_token: string }>('GET', `${project}/`)
    const sent = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: api_token, batch: events }),
    })
    expect(sent.status).toBe(200)
  }

  /** Chooses a file, and starts the import after its first rows were shown. */
  const choose = async (page: Browsed, file: string | { name: string; mimeType: string; buffer: Buffer }) => {
    await page.getByLabel('File', { exact: true }).setInputFiles(file)
    await page.getByRole('region', { name: 'Preview' }).getByRole('button', { name: 'Import', exact: true }).click()
  }

  test('data: events are described, types declared, actions made, warnings shown, annotations written', async () => {
    await capture([{ event: attack, distinct_id: 'kim', timestamp: 'not a time', properties: { [attack]: attack } }])
    const page = await web.signedIn()
    await page.goto(at('data/events'))
    await page.getByRole('button', { name: 'Edit purchase' }).click()
    await page.getByLabel('Description').fill('Paid')
    await page.getByLabel('Tags').fill('revenue, core')
    await page.getByLabel('Verified').check()
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('verified', { exact: true }).waitFor()
    expect(await web.api('GET', `${project}/event_definitions/purchase/`)).toMatchObject({
      description: 'Paid',
      tags: ['revenue', 'core'],
      verified: true,
    })
    await page.getByRole('link', { name: attack }).waitFor()

    await page.getByRole('link', { name: 'Properties', exact: true }).click()
    await page.getByRole('button', { name: 'Edit items' }).click()
    await page.getByRole('region', { name: 'Most frequent values' }).getByRole('listitem').first().waitFor()
    await page.getByLabel('Type', { exact: true }).selectOption('String')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('row', { name: /^items/ })
      .getByText('Text', { exact: true })
      .waitFor()
    expect(await accessibilityFindings(page)).toEqual([])

    await page.getByRole('link', { name: 'Actions' }).click()
    await page.getByRole('button', { name: 'New action' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Became a customer')
    await dialog.getByLabel('Event', { exact: true }).fill('purchase')
    await dialog.getByLabel('Event', { exact: true }).press('Tab')
    expect(await accessibilityFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: 'Became a customer', exact: true }).waitFor()
    const { results: actions } = await web.api<Page<object>>('GET', `${project}/actions/`)
    expect(actions).toContainEqual(
      expect.objectContaining({ name: 'Became a customer', steps: [expect.objectContaining({ event: 'purchase' })] }),
    )

    await page.getByRole('link', { name: 'Warnings' }).click()
    await page.getByRole('region', { name: 'Warnings' }).locator('tbody').getByRole('button').first().click()
    await page.locator('dl.properties').first().waitFor()
    expect(await accessibilityFindings(page)).toEqual([])

    // On the clock of the project in New York, not on that of the browser in Berlin.
    await web.api('PATCH', `${project}/`, { timezone: 'America/New_York' })
    await page.getByRole('link', { name: 'Annotations' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'New annotation' }).click()
    await dialog.getByText('In the time zone of the project, America/New_York.').waitFor()
    await dialog.getByLabel('Note').fill(attack)
    await dialog.getByLabel('Time').fill('2026-03-01T12:00')
    // What was typed is not lost by a key.
    await page.keyboard.press('Escape')
    await dialog.getByRole('alert').getByRole('button', { name: 'Keep editing' }).click()
    expect(await dialog.getByLabel('Note').inputValue()).toBe(attack)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: '2026-03-01 12:00' }).getByText(attack).waitFor()
    const { results: notes } = await web.api<Page<{ date_marker: string }>>('GET', `${project}/annotations/`)
    expect(notes.map(({ date_marker }) => new Date(date_marker).toISOString())).toContain('2026-03-01T17:00:00.000Z')
    await page.getByRole('button', { name: `Edit ${attack}` }).click()
    expect(await dialog.getByLabel('Time').inputValue()).toBe('2026-03-01T12:00')
    expect(await accessibilityFindings(page)).toEqual([])
    await web.api('PATCH', `${project}/`, { timezone: 'UTC' })
    await page.context().close()
  })

  test('all values of a property are deleted once its name is typed', async () => {
    await capture([{ event: 'told', distinct_id: 'kim', properties: { 'a secret': attack } }])
    const page = await web.signedIn()
    await page.goto(at('data/properties'))
    await page.getByRole('searchbox', { name: 'Search properties' }).fill('a secret')
    await page.getByRole('button', { name: 'Edit a secret' }).click()
    await page.getByRole('button', { name: 'Delete all values…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete all values of a secret' })
    expect(await accessibilityFindings(page)).toEqual([])
    await dialog.getByRole('textbox').fill('a secret')
    await dialog.getByRole('button', { name: 'Delete the values' }).click()
    await page.getByText('No property like this').waitFor()
    const { results } = await web.api<Page<{ asked: object; events: number }>>('GET', `${project}/person_deletions/`)
    expect(results[0]).toMatchObject({ asked: { by: 'property', property: 'event a secret' }, events: 1 })
    await page.context().close()
  })

  test('10,000 names are listed a page at a time and searched on the server', async () => {
    for (let sent = 0; sent < 10_000; sent += 1000)
      await capture(Array.from({ length: 1000 }, (_, i) => ({ event: `name ${String(sent + i).padStart(5, '0')}`, distinct_id: 'many' })))
    const page = await web.signedIn()
    await page.goto(at('data/events?order=name&search=name'))
    await page.getByText('50 of 10,000').waitFor()
    const names = page.getByRole('region', { name: 'events' }).locator('tbody a')
    expect(await names.first().textContent()).toBe('name 00000')
    // A page that cannot be read leaves the others in sight.
    await page.route(/offset=50/, (route) => route.fulfill({ status: 500, body: '{"detail":"Not now."}' }))
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByRole('alert').getByText('Not now.').waitFor()
    expect(await names.count()).toBe(50)
    web.complaints.length = 0
    await page.unroute(/offset=50/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('100 of 10,000').waitFor()
    expect(await names.last().textContent()).toBe('name 00099')
    // Each word by itself: also `name 01000`, and `name 00999`.
    await page.getByLabel('Search events').fill('name 000')
    await page.getByText('50 of 109', { exact: true }).waitFor()
    for (const reached of ['100 of 109', '109 in all']) {
      await page.getByRole('button', { name: 'Load more' }).focus()
      await page.keyboard.press('Enter')
      await page.getByText(reached, { exact: true }).waitFor()
    }
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('109 in all')
    await page.getByLabel('Search events').fill('name 0999')
    await page.getByText('11 in all').waitFor()
    expect(await names.last().textContent()).toBe('name 09999')
    await page.context().close()
  })

  test('the first rows of a file are shown as they will be understood, and nothing is stored before it is wanted', async () => {
    const page = await web.signedIn()
    await page.goto(at('import'))
    const sent: string[] = []
    page.on('request', (request) => request.url().includes('/i/v1/') && sent.push(request.url()))
    const csv = [
      'who,what,moment,amount,currency',
      'ann,previewed,2025-01-01 10:00:00,5,EUR',
      'ben,previewed,not a time,6,EUR',
      `${attack.replaceAll(',', '').replaceAll('"', "'")},previewed,2025-01-02 10:00:00,7,USD`,
      '',
    ].join('\n')
    await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'sales.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByRole('heading', { name: 'sales.csv is read as a table (CSV)' }).waitFor()
    // No column has a usual name.
    await preview.getByRole('alert').getByText('Choose a column for: event, person (distinct id), time.').waitFor()
    const start = preview.getByRole('button', { name: 'Import', exact: true })
    expect(await start.isDisabled()).toBe(true)
    await preview.getByLabel('Person (distinct id)', { exact: true }).selectOption('who')
    await preview.getByLabel('Time', { exact: true }).selectOption('moment')
    await preview.getByLabel('Event', { exact: true }).selectOption('the same for all rows …')
    await preview.getByRole('cell', { name: 'imported' }).first().waitFor()
    await preview.getByLabel('Event', { exact: true }).selectOption('what')
    const others = preview.getByRole('list', { name: 'Columns that become properties' }).getByRole('listitem')
    await expect.poll(() => others.allTextContents()).toEqual(['amount5 · 6 · 7', 'currencyEUR · USD'])
    const rows = async () =>
      Promise.all((await preview.getByRole('table').locator('tbody tr').all()).map((row) => row.locator('td').allInnerTexts()))
    await expect.poll(rows).toEqual([
      ['1', 'previewed', 'ann', '2025-01-01 10:00', 'amount, currency'],
      ['3', 'previewed', attack.replaceAll('"', "'"), '2025-01-02 10:00', 'amount, currency'],
    ])
    await preview.getByText('1 of the 3 rows of the file cannot be read, and will be left out.').waitFor()
    await preview.getByText('Row 2: unreadable timestamp: not a time').waitFor()
    await preview.getByRole('button', { name: 'amount, currency' }).first().click()
    await preview.locator('dl.properties', { hasText: 'amount' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    expect(sent).toEqual([])

    // Another file instead; then this one, with the columns that were chosen.
    await preview.getByRole('button', { name: 'Cancel' }).click()
    await preview.waitFor({ state: 'detached' })
    const line = '{"event":"previewed too","distinct_id":"x","timestamp":"2025-01-01T00:00:00Z","properties":{"a":1}}'
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'old.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(`${line}\nnot JSON\n`) })
    await preview.getByRole('heading', { name: 'old.jsonl is read as an export of PostHog' }).waitFor()
    expect(await preview.getByRole('group', { name: 'Map columns' }).count()).toBe(0)
    await preview.getByText('Row 2: not a JSON object: not JSON').waitFor()
    await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'sales.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await preview.getByLabel('Person (distinct id)', { exact: true }).selectOption('who')
    await preview.getByLabel('Time', { exact: true }).selectOption('moment')
    await preview.getByLabel('Event', { exact: true }).selectOption('what')
    expect(sent).toEqual([])
    await start.click()
    await page.getByText('Imported sales.csv').waitFor()
    expect(sent.length).toBeGreaterThan(0)
    const query = "select distinct_id, properties.amount from events where event like 'previewed%' order by timestamp"
    const { results } = await web.api<{ results: unknown[][] }>('POST', `${project}/query/`, { query: { kind: 'HogQLQuery', query } })
    expect(results).toEqual([
      ['ann', '5'],
      [attack.replaceAll('"', "'"), '7'],
    ])

    // What cannot be read at all says why.
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]) })
    await page.getByRole('alert').getByText('photo.png is neither JSON lines').waitFor()
    await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'nothing.csv', mimeType: 'text/csv', buffer: Buffer.from('') })
    await page.getByRole('alert').getByText('nothing.csv is empty.').waitFor()
    await page.context().close()
  })

  test('an import that is cancelled or refused is started again', async () => {
    const page = await web.signedIn()
    await page.goto(at('import'))
    const file = {
      name: 'again.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from('{"event":"again","distinct_id":"x","timestamp":"2025-01-01T00:00:00Z"}\n'),
    }
    await page.route('**/i/v1/**', () => {})
    await choose(page, file)
    await page.getByText('Importing again.jsonl').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Stopped again.jsonl').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.unroute('**/i/v1/**')
    await page.route('**/i/v1/**', (route) => route.fulfill({ status: 400, body: JSON.stringify({ detail: attack }) }))
    await page.getByRole('button', { name: 'Import it again' }).click()
    await page.getByRole('alert').getByText(attack).waitFor()
    web.complaints.length = 0 // the refusal
    await page.unroute('**/i/v1/**')
    await page.getByRole('button', { name: 'Import it again' }).click()
    await page.getByText('Imported again.jsonl').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    const { results } = await web.api<{ results: unknown[] }>('GET', `${project}/events/?event=again&after=2024-01-01`)
    expect(results).toHaveLength(1)
    await page.context().close()
  })

  test('a file is imported from the browser, and a second time nothing new is stored', async () => {
    const page = await web.signedIn()
    await page.goto(at('import'))
    const line = (i: number) =>
      JSON.stringify({ event: 'imported', distinct_id: `old-${i % 7}`, timestamp: `2025-03-0${1 + (i % 9)}T10:00:00Z`, properties: { i } })
    const lines = Array.from({ length: 2500 }, (_, i) => line(i))
    const file = { name: 'old.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from([...lines, 'not JSON', ''].join('\n')) }
    const count = (label: string) => page.getByRole('status').getByRole('listitem').filter({ hasText: label }).locator('span').nth(1)
    await choose(page, file)
    await page.getByText('Imported old.jsonl').waitFor()
    expect(await count('Rows').textContent()).toBe('2,501')
    expect(await count('Unreadable').textContent()).toBe('1')
    expect(
      await page
        .getByRole('status')
        .locator('li')
        .filter({ hasText: /^Stored[\d,]/ })
        .locator('span')
        .nth(1)
        .textContent(),
    ).toBe('2,500')
    await page.getByText('Row 2501: not a JSON object').waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await page.reload()
    await choose(page, file)
    await page.getByText('Imported old.jsonl').waitFor()
    expect(await count('Stored before').textContent()).toBe('2,500')
    const { results } = await web.api<{ results: number[][] }>('POST', `${project}/query/`, {
      query: { kind: 'HogQLQuery', query: "select count() from events where event = 'imported'" },
    })
    expect(results).toEqual([[2500]])
  })

  test('the command stores nothing more of a CSV that was imported from the browser', async () => {
    const csv = [
      'event,distinct_id,timestamp,note,amount',
      'paid,ann,2025-01-01 10:00:00,"a ""quoted"", word\nin two lines",5',
      'paid,ben,2025-01-02 10:00:00,,',
      'paid,cem,2025-01-03 10:00:00,too,many,cells',
      `paid,dan,2025-01-04 10:00:00,${attack.replaceAll('"', "'")},7`,
      '',
    ].join('\r\n')
    const folder = await mkdtemp(join(tmpdir(), 'waymark-csv-'))
    const file = join(folder, 'paid.csv')
    await writeFile(file, csv)
    const page = await web.signedIn()
    await page.goto(at('import'))
    await choose(page, file)
    await page.getByText('Imported paid.csv').waitFor()
    await page.getByText('it has 6 cells instead of 5').waitFor()
    const { api_token } = await web.api<{ api_token: string }>('GET', `${project}/`)
    const command = [program('cli'), 'import', file, '--url', web.facts.url, '--key', api_token, '--json']
    const { stdout } = await promisify(execFile)(process.execPath, command).catch((failed: { stdout: string }) => failed)
    expect(JSON.parse(stdout)).toMatchObject({ stored: 0, duplicates: 3 })
    const query = "select distinct_id, properties.note, properties.amount from events where event = 'paid' order by timestamp"
    const { results } = await web.api<{ results: unknown[][] }>('POST', `${project}/query/`, { query: { kind: 'HogQLQuery', query } })
    expect(results).toEqual([
      ['ann', 'a "quoted", word\nin two lines', '5'],
      ['ben', null, null],
      ['dan', attack.replaceAll('"', "'"), '7'],
    ])
    await rm(folder, { recursive: true })
  })

  test('web analytics: numbers of the API, a row is a filter, goals, no comparison', async () => {
    const page = await web.signedIn()
    await page.goto(at('web?from=-30d'))
    const ask = async <T>(query: object) => (await web.api<{ results: T }>('POST', `${project}/query/`, { query })).results
    const range = { dateRange: { date_from: '-30d' } }
    const overview = await ask<{ key: string; value: number }[]>({ kind: 'WebOverviewQuery', ...range })
    const shown = (key: string) =>
      page
        .locator('.overview > div')
        .filter({ hasText: new RegExp(`^${key}`) })
        .locator('strong')
    const numberOf = async (key: string) => Number((await shown(key).textContent())!.replaceAll(',', ''))
    const apiValue = (key: string) => overview.find((one) => one.key === key)!.value
    await shown('Visitors').waitFor()
    expect(await numberOf('Visitors')).toBe(apiValue('visitors'))
    expect(await numberOf('Page views')).toBe(apiValue('views'))
    const pages = page.getByRole('region', { name: 'Pages', exact: true })
    const table = await ask<[string, [number], [number]][]>({ kind: 'WebStatsTableQuery', breakdownBy: 'Page', limit: 8, ...range })
    await expect.poll(() => pages.locator('tbody tr td:first-child').allTextContents()).toEqual(table.map(([path]) => path))
    await page.getByRole('region', { name: 'Places' }).getByText('Germany').waitFor()
    await page.getByRole('region', { name: 'Goals', exact: true }).getByText('Became a customer').waitFor()
    expect(await accessibilityFindings(page)).toEqual([])

    await pages.getByRole('button', { name: '/pricing' }).click()
    const properties = [{ type: 'event', key: '$pathname', operator: 'exact', value: '/pricing' }]
    const [filtered] = await ask<{ value: number }[]>({ kind: 'WebOverviewQuery', ...range, properties })
    await expect.poll(() => numberOf('Visitors')).toBe(filtered!.value)
    await page.getByRole('button', { name: 'Remove the filter $pathname = /pricing' }).click()
    await expect.poll(() => numberOf('Visitors')).toBe(apiValue('visitors'))

    await page.getByLabel('Conversion goal').fill('purchase')
    await page.keyboard.press('Enter')
    const converted = await ask<{ key: string; value: number }[]>({
      kind: 'WebOverviewQuery',
      ...range,
      conversionGoal: { customEventName: 'purchase' },
    })
    await shown('Unique conversions').waitFor()
    expect(await numberOf('Unique conversions')).toBe(converted.find(({ key }) => key === 'unique conversions')!.value)
    await page.getByLabel('Compare with the previous period').uncheck()
    await expect.poll(() => page.locator('.change').count()).toBe(0)
  })
})
