import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, dialogClosed, forgetRefusals, hasBrowser, openWeb, settled, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('saved filters in a browser', () => {
  let web: Web
  let page: Page
  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  const firefox = { key: '$browser', type: 'event', operator: 'exact', value: ['Firefox'] }
  const path = () => `/api/projects/${web.demo}/saved_filters/`
  const stored = async () => (await web.api<{ results: { name: string; properties: unknown }[] }>('GET', path())).results
  const open = async (of: string) => {
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${of}`)
    await page.getByRole('button', { name: 'Saved filters…' }).waitFor()
  }
  const trend = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: '$pageview' }], dateRange: { date_from: '-7d' } }
  const asked = () => {
    const all: { properties?: unknown }[] = []
    page.on('request', (request) => {
      const query = request.url().endsWith('/query/') && JSON.parse(request.postData() ?? '{}').query
      if (query?.kind === 'TrendsQuery') all.push(query)
    })
    return () => all.at(-1)?.properties
  }

  test('those of a question are saved, and used in another one as a copy', async () => {
    await open(`insights/new?q=${encodeURIComponent(JSON.stringify({ ...trend, properties: [firefox] }))}`)
    await page.getByRole('button', { name: 'Saved filters…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Saved filters' })
    await dialog.getByText('None yet.').waitFor()
    await dialog.getByText('is “Firefox”').waitFor()
    await dialog.getByLabel('Name').fill('With Firefox')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('row', { name: /With Firefox/ }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    expect(await stored()).toMatchObject([{ name: 'With Firefox', properties: [firefox] }])
    // A name is used once.
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('already exist').waitFor()
    forgetRefusals(web)

    await open(`insights/new?q=${encodeURIComponent(JSON.stringify(trend))}`)
    const last = asked()
    await page.getByRole('button', { name: 'Saved filters…' }).click()
    await dialog.getByRole('button', { name: 'Use With Firefox' }).click()
    await dialogClosed(page)
    await expect.poll(last).toEqual([firefox])
    await web.api('PATCH', `${path()}${(await web.api<{ results: { id: string }[] }>('GET', path())).results[0]!.id}/`, {
      properties: [{ ...firefox, value: ['Safari'] }],
    })
    await settled(page)
    expect(last()).toEqual([firefox])
    // Both hold, or only the saved ones.
    await page.getByRole('button', { name: 'Saved filters…' }).click()
    await dialog.getByRole('button', { name: 'Add With Firefox', exact: true }).click()
    await expect.poll(last).toEqual([firefox, { ...firefox, value: ['Safari'] }])
    await page.getByRole('button', { name: 'Saved filters…' }).click()
    await dialog.getByRole('button', { name: 'Use instead: With Firefox' }).click()
    await expect.poll(last).toEqual([{ ...firefox, value: ['Safari'] }])
  })

  test('a list of people, and a dashboard', async () => {
    await web.api('POST', path(), {
      name: 'Paying',
      properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }],
    })
    await open('people')
    await page.getByRole('button', { name: 'Saved filters…' }).click()
    await page.getByText('Not only of persons').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Use Paying' }).click()
    await expect.poll(() => page.url()).toMatch(/plan/)
    const { results } = await web.api<{ results: { id: number }[] }>('GET', `/api/projects/${web.demo}/dashboards/`)
    await open(`dashboards/${results[0]!.id}`)
    await page.getByRole('button', { name: 'Saved filters…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Use Paying' }).click()
    await page.getByRole('button', { name: 'Keep for everybody' }).waitFor()
  })

  test('a removal can be undone where it was made', async () => {
    await open('insights/new?kind=trends')
    await page.getByRole('button', { name: 'Saved filters…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete Paying' }).click()
    await dialog.getByRole('row', { name: /Paying/ }).waitFor({ state: 'detached' })
    expect((await stored()).map(({ name }) => name)).toEqual(['With Firefox'])
    await dialog.getByRole('button', { name: 'Undo' }).click()
    await dialog.getByRole('row', { name: /Paying/ }).waitFor()
    expect((await stored()).map(({ name }) => name)).toEqual(['Paying', 'With Firefox'])
  })
})
