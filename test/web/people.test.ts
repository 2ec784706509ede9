import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

interface Person {
  readonly uuid: string
  readonly name: string
  readonly distinct_ids: string[]
  readonly properties: Record<string, unknown>
}
interface Page<T> {
  readonly count: number
  readonly results: T[]
}

const attack = '<img src=x onerror="document.title=1"> & <script>1</script>'

describe.skipIf(!hasBrowser)('people, groups, cohorts, data and web analytics in a browser', () => {
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

  test('people are found by text and by property, page by page, and the numbers are those of the API', async () => {
    const page = await web.signedIn()
    const all = await web.api<Page<Person>>('GET', `${project}/persons/?limit=50`)
    await page.goto(at('people'))
    const rows = page.getByRole('region', { name: 'People' }).locator('tbody tr')
    await page.getByText(`1 to 50 of ${all.count}`).waitFor()
    expect(await rows.locator('td:first-child').allTextContents()).toEqual(all.results.map(({ name }) => name))
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText(`51 to 100 of ${all.count}`).waitFor()

    const some = await web.api<Page<Person>>('GET', `${project}/persons/?search=user-22&limit=50`)
    await page.getByLabel('Search people').fill('user-22')
    await expect.poll(() => rows.locator('td:first-child').allTextContents()).toEqual(some.results.map(({ name }) => name))
    // The address holds the search: a reload shows the same.
    await page.reload()
    await expect.poll(() => rows.count()).toBe(some.count)

    await page.goto(at('people'))
    await page.getByRole('button', { name: 'Add a filter' }).click()
    await page.getByLabel('Property', { exact: true }).fill('plan')
    await page.getByLabel('Property', { exact: true }).press('Enter')
    await page.getByLabel('Value', { exact: true }).fill('pro')
    await page.getByLabel('Value', { exact: true }).press('Enter')
    const filter = encodeURIComponent(JSON.stringify([{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }]))
    const pro = await web.api<Page<Person>>('GET', `${project}/persons/?properties=${filter}&limit=50`)
    expect(pro.count).toBeGreaterThan(0)
    await expect.poll(() => rows.count()).toBe(Math.min(50, pro.count))
  })

  test('a person: from a distinct id, properties changed, ids split, events unfolded, deleted with its events', async () => {
    await capture([
      {
        event: '$identify',
        distinct_id: 'zoe',
        properties: { $anon_distinct_id: 'zoe-phone', $set: { email: 'zoe@example.com', plan: 'pro', [attack]: attack } },
      },
      { event: attack, distinct_id: 'zoe', timestamp: '2026-01-05T23:30:00Z', properties: { [attack]: attack } },
      { event: 'purchase', distinct_id: 'zoe-phone', timestamp: '2026-01-04T10:00:00Z' },
    ])
    const find = () => web.api<Person>('GET', `${project}/persons/zoe/`)
    const { uuid } = await find()
    const page = await web.signedIn()
    await page.goto(at('people/by-id?distinct_id=zoe-phone'))
    await page.getByRole('heading', { name: 'zoe@example.com' }).waitFor()
    expect(page.url()).toContain(`people/${uuid}`)
    const events = page.getByRole('region', { name: 'Events' })
    await events.getByText('Monday, 5 January 2026').waitFor()
    expect(await events.locator('h3').allTextContents()).toHaveLength(3)
    await events.getByRole('button', { name: attack }).click()
    expect(await events.locator('dd', { hasText: attack }).count()).toBe(1)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByLabel('Only this event').fill('purchase')
    await page.getByLabel('Only this event').press('Enter')
    await expect.poll(() => events.locator('.moment').count()).toBe(1)

    const properties = page.getByRole('region', { name: 'Properties' })
    const dialog = page.getByRole('dialog')
    await properties.getByRole('button', { name: 'Edit plan' }).click()
    await dialog.getByLabel('Kind of value').selectOption('number')
    await dialog.getByLabel('Value', { exact: true }).fill('three')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Expected a number').waitFor()
    await dialog.getByLabel('Value', { exact: true }).fill('3')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect((await find()).properties.plan).toBe(3)
    await properties.getByRole('button', { name: `Remove ${attack}` }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(Object.keys((await find()).properties)).not.toContain(attack)
    await page.getByRole('button', { name: 'Add a property' }).click()
    await dialog.getByLabel('Name').fill('tags')
    await dialog.getByLabel('Kind of value').selectOption('json')
    await dialog.getByLabel('Value', { exact: true }).fill('["a", 1]')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await properties.getByText('["a",1]').waitFor()

    await page.getByRole('button', { name: 'Split' }).click()
    await dialog.getByLabel('zoe-phone').check()
    await dialog.getByRole('button', { name: 'Split' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect((await find()).distinct_ids).toEqual(['zoe'])
    await expect.poll(() => page.getByRole('region', { name: 'Distinct ids' }).getByRole('listitem').count()).toBe(1)

    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByLabel('Delete them too').check()
    await dialog.getByRole('button', { name: 'Delete with all events' }).click()
    await page.getByRole('heading', { name: 'People', exact: true }).waitFor()
    expect((await web.api<Page<Person>>('GET', `${project}/persons/?distinct_id=zoe`)).count).toBe(0)
    expect((await web.api<Page<object>>('GET', `${project}/events/?distinct_id=zoe`)).results).toEqual([])
    await page.goto(at(`people/${uuid}`))
    await page.getByRole('heading', { name: 'There is no such person' }).waitFor()
    web.complaints.length = 0 // the 404
  })

  test('groups: the list, and one with a slash in its key', async () => {
    const key = `a/b ${attack}`
    await capture([
      {
        event: '$groupidentify',
        distinct_id: 'server',
        properties: { $group_type: 'company', $group_key: key, $group_set: { name: attack } },
      },
      { event: 'visited', distinct_id: 'kim', properties: { $groups: { company: key } } },
    ])
    const page = await web.signedIn()
    await page.goto(at('people'))
    await page.getByRole('link', { name: 'Company groups' }).click()
    await page.getByText('1 to 41 of 41').waitFor({ state: 'hidden' })
    await page.getByLabel('Search Company groups').fill('a/b')
    await page.getByRole('link', { name: attack }).click()
    await page.getByRole('region', { name: 'People' }).getByRole('link', { name: 'kim' }).waitFor()
    await page.getByRole('region', { name: 'Events' }).getByRole('button', { name: 'visited' }).waitFor()
    await page.getByRole('button', { name: 'Edit name' }).click()
    await page.getByRole('dialog').getByLabel('Value', { exact: true }).fill('Acme')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Acme' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('cohorts: by conditions, by a CSV, changed and deleted', async () => {
    const page = await web.signedIn()
    await page.goto(at('cohorts'))
    await page.getByRole('link', { name: 'New cohort' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Buyers on pro')
    await page.getByLabel('Property', { exact: true }).fill('plan')
    await page.getByLabel('Property', { exact: true }).press('Tab')
    await page.getByLabel('Value', { exact: true }).fill('pro')
    await page.getByLabel('Value', { exact: true }).press('Tab')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Kind of condition').nth(1).selectOption('behavioral')
    await page.getByLabel('Event', { exact: true }).fill('purchase')
    await page.getByLabel('Event', { exact: true }).press('Tab')
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Create the cohort' }).click()
    await page.getByRole('heading', { name: 'Buyers on pro' }).waitFor()
    const asked =
      "select count(distinct person_id) from events where event = 'purchase' and person.properties.plan = 'pro' and timestamp > now() - interval 30 day"
    const { results } = await web.api<{ results: number[][] }>('POST', `${project}/query/`, { query: { kind: 'HogQLQuery', query: asked } })
    const [[expected]] = results as [[number]]
    expect(expected).toBeGreaterThan(0)
    await page.getByText(`dynamic · ${expected} people`).waitFor()
    await expect.poll(() => page.getByRole('region', { name: 'Members' }).locator('tbody tr').count()).toBe(Math.min(50, expected))
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('How the conditions of group 1 are joined').selectOption('OR')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(`dynamic · ${expected} people`).waitFor({ state: 'hidden' })

    await page.goto(at('cohorts/new'))
    await page.getByLabel('Static').check()
    await page
      .getByLabel('Or a CSV file')
      .setInputFiles({ name: 'friends.csv', mimeType: 'text/csv', buffer: Buffer.from('distinct_id\nvisitor-1\nvisitor-2\nnobody\n') })
    await page.getByRole('button', { name: 'Create the cohort' }).click()
    await page.getByRole('heading', { name: 'friends' }).waitFor()
    await page.getByText('static · 2 people').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Cohorts' }).waitFor()
    const { results: left } = await web.api<Page<{ name: string }>>('GET', `${project}/cohorts/`)
    expect(left.map(({ name }) => name)).toEqual(['Buyers on pro'])
    expect(await accessibilityFindings(page)).toEqual([])
  })

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

    await page.getByRole('link', { name: 'Properties' }).click()
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
    expect(actions).toMatchObject([{ name: 'Became a customer', steps: [{ event: 'purchase' }] }])

    await page.getByRole('link', { name: 'Warnings' }).click()
    await page.getByRole('region', { name: 'Warnings' }).getByRole('button').first().click()
    await page.locator('dl.properties').first().waitFor()
    expect(await accessibilityFindings(page)).toEqual([])

    await page.getByRole('link', { name: 'Annotations' }).click()
    await page.getByRole('button', { name: 'New annotation' }).click()
    await dialog.getByLabel('Note').fill(attack)
    await dialog.getByLabel('Time').fill('2026-03-01T12:00')
    await dialog.getByRole('button', { name: 'Save' }).click()
    // Noon in Berlin, on the clock of the project.
    await page.getByRole('row', { name: '2026-03-01 11:00' }).getByText(attack).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('a file is imported from the browser, and a second time nothing new is stored', async () => {
    const page = await web.signedIn()
    await page.goto(at('data/import'))
    const line = (i: number) =>
      JSON.stringify({ event: 'imported', distinct_id: `old-${i % 7}`, timestamp: `2025-03-0${1 + (i % 9)}T10:00:00Z`, properties: { i } })
    const lines = Array.from({ length: 2500 }, (_, i) => line(i))
    const file = { name: 'old.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from([...lines, 'not JSON', ''].join('\n')) }
    const count = (label: string) => page.getByRole('status').getByRole('listitem').filter({ hasText: label }).locator('span').nth(1)
    await page.getByLabel('File', { exact: true }).setInputFiles(file)
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
    await page.getByLabel('File', { exact: true }).setInputFiles(file)
    await page.getByText('Imported old.jsonl').waitFor()
    expect(await count('Stored before').textContent()).toBe('2,500')
    const { results } = await web.api<{ results: number[][] }>('POST', `${project}/query/`, {
      query: { kind: 'HogQLQuery', query: "select count() from events where event = 'imported'" },
    })
    expect(results).toEqual([[2500]])
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('event,distinct_id,timestamp\na,b,2025-01-01\n') })
    await page.getByText('CSV cannot be read in a browser').waitFor()
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
    const pages = page.getByRole('region', { name: 'Pages' }).first()
    const table = await ask<[string, [number], [number]][]>({ kind: 'WebStatsTableQuery', breakdownBy: 'Page', limit: 8, ...range })
    await expect.poll(() => pages.locator('tbody tr td:first-child').allTextContents()).toEqual(table.map(([path]) => path))
    await page.getByRole('region', { name: 'Places' }).getByText('Germany').waitFor()
    await page.getByRole('region', { name: 'Goals' }).first().getByText('Became a customer').waitFor()
    expect(await accessibilityFindings(page)).toEqual([])

    await pages.getByRole('button', { name: '/pricing' }).click()
    const properties = [{ type: 'event', key: '$pathname', operator: 'exact', value: '/pricing' }]
    const [filtered] = await ask<{ value: number }[]>({ kind: 'WebOverviewQuery', ...range, properties })
    await expect.poll(() => numberOf('Visitors')).toBe(filtered!.value)
    await page.getByRole('button', { name: 'Remove the filter $pathname is /pricing' }).click()
    await expect.poll(() => numberOf('Visitors')).toBe(apiValue('visitors'))

    await page.getByLabel('Conversion goal').selectOption('event:purchase')
    const converted = await ask<{ key: string; value: number }[]>({
      kind: 'WebOverviewQuery',
      ...range,
      conversionGoal: { customEventName: 'purchase' },
    })
    await shown('Unique conversions').waitFor()
    expect(await numberOf('Unique conversions')).toBe(converted.find(({ key }) => key === 'unique conversions')!.value)
    await page.getByLabel('Compare with the period before').uncheck()
    await expect.poll(() => page.locator('.change').count()).toBe(0)
  })

  test('by keyboard: a person is reached and opened', async () => {
    const page = await web.signedIn({ width: 360, height: 800 })
    await page.goto(at('live'))
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.getByRole('region', { name: 'People' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await page.getByLabel('Search people').focus()
    await page.keyboard.type('user-229')
    await expect.poll(() => page.getByRole('region', { name: 'People' }).locator('tbody tr').count()).toBe(1)
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('Tab')
      if ((await page.evaluate('document.activeElement?.textContent')) === 'user-229@example.com') break
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'user-229@example.com' }).waitFor()
    for (const path of ['web', 'cohorts/new', 'data/properties', 'data/import', 'people/groups/0']) {
      await page.goto(at(path))
      await page.getByRole('heading').first().waitFor()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: path }).toBe(360)
    }
  })
})
