import { text } from 'node:stream/consumers'
import type { Locator } from 'playwright-core'
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

describe.skipIf(!hasBrowser)('people, groups and cohorts in a browser', () => {
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
    await page.getByText(`50 of ${all.count}`).waitFor()
    expect(await rows.locator('td:first-child a').allTextContents()).toEqual(all.results.map(({ name }) => name))
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText(`100 of ${all.count}`).waitFor()
    expect(await rows.count()).toBe(100)

    const some = await web.api<Page<Person>>('GET', `${project}/persons/?search=user-22&limit=50`)
    await page.getByLabel('Search people').fill('user-22')
    await expect.poll(() => rows.locator('td:first-child a').allTextContents()).toEqual(some.results.map(({ name }) => name))
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
    // The link of the page is the list without filters.
    await page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'People' }).click()
    await page.getByText(`50 of ${all.count}`).waitFor()
    expect(await page.getByLabel('Value', { exact: true }).count()).toBe(0)
  })

  test('names of events are shown as people say them, with the sent name under the pointer', async () => {
    await capture([{ event: '$pageview', distinct_id: 'reader', properties: { $pathname: '/read' } }])
    const page = await web.signedIn()
    const isReadable = async (within: Locator) => {
      const name = within.getByText('Pageview', { exact: true }).first()
      await name.waitFor()
      expect(await name.getAttribute('title')).toBe('$pageview')
    }
    await page.goto(at('people/by-id?distinct_id=reader'))
    await isReadable(page.getByRole('region', { name: 'Events' }))
    expect(await page.locator('main').getByText('$pageview', { exact: true }).count()).toBe(0)
    await page.goto(at('live'))
    await isReadable(page.locator('table.rows'))
    expect(await page.locator('main').getByText('$pageview', { exact: true }).count()).toBe(0)
    // Where names are looked up both are in sight.
    await page.goto(at('data/events'))
    const row = page.getByRole('row', { name: /^Pageview/ })
    await isReadable(row)
    await row.getByText('$pageview', { exact: true }).waitFor()
    await page.context().close()
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
    await expect.poll(async () => Object.keys((await find()).properties)).not.toContain(attack)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => Object.keys((await find()).properties)).toContain(attack)
    await properties.getByRole('button', { name: `Remove ${attack}` }).click()
    await expect.poll(async () => Object.keys((await find()).properties)).not.toContain(attack)
    await page.getByRole('button', { name: 'Add a property' }).click()
    await dialog.getByLabel('Name').fill('tags')
    await dialog.getByLabel('Kind of value').selectOption('json')
    await dialog.getByLabel('Value', { exact: true }).fill('["a", 1]')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await properties.getByText('["a",1]').waitFor()
    await page.getByText('History of changes').click()
    await page.getByText('properties: tags').waitFor()

    await page.getByRole('button', { name: 'Split' }).click()
    await dialog.getByLabel('zoe-phone').check()
    await dialog.getByRole('button', { name: 'Split' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect((await find()).distinct_ids).toEqual(['zoe'])
    await expect.poll(() => page.getByRole('region', { name: 'Distinct ids' }).getByRole('listitem').count()).toBe(1)

    const started = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Everything as a file' }).click()
    const lines = (await text(await (await started).createReadStream())).trimEnd().split('\n')
    expect(JSON.parse(lines[0]!)).toMatchObject({ type: 'person', distinct_ids: ['zoe'] })
    expect(lines.slice(1).some((line) => JSON.parse(line).type === 'event')).toBe(true)

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

  test('two persons are merged: what will happen is said before, and one timeline is left', async () => {
    await capture([
      {
        event: 'opened',
        distinct_id: 'mia-web',
        timestamp: '2026-02-01T10:00:00Z',
        properties: { $set: { email: 'mia@example.com', plan: 'pro' } },
      },
      { event: 'paid', distinct_id: 'mia-web', timestamp: '2026-02-02T10:00:00Z' },
      {
        event: 'opened',
        distinct_id: 'mia-phone',
        timestamp: '2026-02-01T12:00:00Z',
        properties: { $set: { name: attack, plan: 'free', [attack]: attack } },
      },
    ])
    const find = (id: string) => web.api<Person>('GET', `${project}/persons/${id}/`)
    const [kept, other] = [await find('mia-web'), await find('mia-phone')]
    const page = await web.signedIn()
    await page.goto(at(`people/${kept.uuid}`))
    await page.getByRole('button', { name: 'Merge' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Search the other person').fill('mia')
    await dialog.getByText('2 in all').waitFor()
    expect(await dialog.getByRole('button', { name: 'mia@example.com' }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: attack }).click()
    const row = (title: string) => dialog.getByRole('row', { name: new RegExp(`^${title}`) }).getByRole('cell')
    await expect.poll(() => row('Events').allTextContents()).toEqual(['2', '1', '3'])
    expect(await row('Distinct ids').allTextContents()).toEqual(['1', '1', '2'])
    const lines = (name: string) => dialog.getByRole('region', { name }).getByRole('listitem').allTextContents()
    expect((await lines('Properties that are lost')).filter((line) => !line.startsWith('$'))).toEqual(['planpro free'])
    expect((await lines('Properties that are added')).sort()).toEqual([`${attack}${attack}`, `name${attack}`].sort())
    await dialog.getByText('This cannot be undone').waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect((await find('mia-phone')).uuid).toBe(other.uuid)

    await page.getByRole('button', { name: 'Merge' }).click()
    await dialog.getByLabel('Search the other person').fill('mia-phone')
    await dialog.getByText('1 in all').waitFor()
    await dialog.getByRole('button', { name: attack }).click()
    await dialog.getByRole('button', { name: 'Merge them' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const after = await find('mia-phone')
    expect(after.uuid).toBe(kept.uuid)
    expect(after.properties).toMatchObject({ email: 'mia@example.com', plan: 'pro', name: attack })
    expect([...after.distinct_ids].sort()).toEqual(['mia-phone', 'mia-web'])
    const events = page.getByRole('region', { name: 'Events' })
    await expect.poll(() => events.locator('.moment').count()).toBe(3)
    await expect.poll(() => page.getByRole('region', { name: 'Distinct ids' }).getByRole('listitem').count()).toBe(2)
    await page.goto(at(`people/${other.uuid}`))
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
    await page.getByRole('region', { name: 'Company groups' }).waitFor()
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
    await page.getByLabel('Length of the time').fill('90')
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Create the cohort' }).click()
    await page.getByRole('heading', { name: 'Buyers on pro' }).waitFor()
    const asked = "select count(distinct person_id) from events where event = 'purchase' and person.properties.plan = 'pro'"
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
    await page.getByText('1 value matched nobody').waitFor()
    await page.getByRole('button', { name: 'Open the cohort' }).click()
    await page.getByRole('heading', { name: 'friends' }).waitFor()
    await page.getByText('static · 2 people').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Cohorts' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('static · 2 people').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Cohorts' }).waitFor()
    const { results: left } = await web.api<Page<{ name: string }>>('GET', `${project}/cohorts/`)
    expect(left.map(({ name }) => name)).toEqual(['Customers', 'Paying plans', 'Buyers on pro'])
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('a number that is being typed stays while suggestions arrive', async () => {
    const page = await web.signedIn()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/event_definitions\//, async (route) => {
      await held
      await route.continue()
    })
    await page.goto(at('cohorts/new'))
    await page.getByLabel('Kind of condition').selectOption('behavioral')
    const field = page.getByLabel('Length of the time')
    await field.fill('90')
    release()
    expect(await field.inputValue()).toBe('90')
    await page.getByLabel('Event', { exact: true }).click()
    await page.getByRole('option', { name: 'purchase' }).waitFor()
    expect(await field.inputValue()).toBe('90')
    await page.context().close()
  })

  test('by keyboard: a person is reached and opened', async () => {
    const statement = "select properties.email from persons where properties.email like 'user-%' order by 1 limit 1"
    const { results: found } = await web.api<{ results: [[string]] }>('POST', `${project}/query/`, {
      query: { kind: 'SqlLikeQuery', query: statement },
    })
    const email = found[0][0]
    const page = await web.signedIn({ width: 360, height: 800 })
    await page.goto(at('live'))
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.getByRole('region', { name: 'People' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await page.getByLabel('Search people').focus()
    await page.keyboard.type(email)
    await expect.poll(() => page.getByRole('region', { name: 'People' }).locator('tbody tr').count()).toBe(1)
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('Tab')
      if ((await page.evaluate('document.activeElement?.textContent')) === email) break
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: email }).waitFor()
    for (const path of ['web', 'cohorts/new', 'data/properties', 'import', 'people/groups/0']) {
      await page.goto(at(path))
      await page.getByRole('heading').first().waitFor()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: path }).toBe(360)
    }
  })
})
