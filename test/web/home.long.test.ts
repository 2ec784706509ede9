import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, settled, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('the first page', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('who signs in lands on it: the last day, favorites, and what is left to do', async () => {
    const base = `/api/projects/${web.demo}/`
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}`)
    await page.getByRole('heading', { level: 1, name: /^Good .*, Ada$/ }).waitFor()
    expect(page.url()).toMatch(/\/home$/)
    await settled(page)
    const query = {
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: '$pageview', math: 'dau' }],
      dateRange: { date_from: '-24h' },
      trendsFilter: { display: 'BoldNumber' },
    }
    const { results } = await web.api<{ results: { aggregated_value: number }[] }>('POST', `${base}query/`, { query })
    const people = page.getByRole('region', { name: 'People, last 24 hours' })
    await people.getByText(results[0]!.aggregated_value.toLocaleString('en'), { exact: true }).waitFor()
    await page
      .getByRole('region', { name: 'Weekly active people' })
      .getByRole('img', { name: /^Line chart/ })
      .waitFor()
    expect(await accessibilityFindings(page)).toEqual([])

    // What was looked at is listed, and a star keeps it there.
    const { results: saved } = await web.api<{ results: { id: number; short_id: string; name: string }[] }>(
      'GET',
      `${base}insights/?saved=true&basic=true`,
    )
    const [first] = saved
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/${first!.short_id}`)
    await page.getByRole('heading', { level: 1, name: first!.name }).waitFor()
    await settled(page)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/home`)
    const recent = page.getByRole('region', { name: 'Recent and favorite insights' })
    await recent.getByRole('button', { name: `Favorite: ${first!.name}`, pressed: false }).click()
    await recent.getByRole('button', { name: `Favorite: ${first!.name}`, pressed: true }).waitFor()
    await recent.getByRole('link', { name: first!.name }).waitFor()

    const setUp = page.getByRole('region', { name: 'Set up' })
    await setUp.getByText('Send events: done').waitFor()
    await setUp.getByRole('link', { name: 'Invite somebody' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    expect(page.url()).toMatch(/settings\/invites$/)
  })

  test('a project without events says how to send one; with the first events it offers a dashboard', async () => {
    const page = await web.signedIn({ width: 390, height: 800 })
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/home`)
    await page.getByRole('heading', { name: 'Waiting for the first event' }).waitFor()
    await page.getByRole('region', { name: 'Set up' }).getByRole('link', { name: 'Send events' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    const { results: boards } = await web.api<{ results: { id: number }[] }>('GET', `/api/projects/${web.facts.project_id}/dashboards/`)
    for (const { id } of boards) await web.api('PATCH', `/api/projects/${web.facts.project_id}/dashboards/${id}/`, { deleted: true })
    const batch = ['$pageview', 'signed up', 'note created'].map((event) => ({ event, distinct_id: 'first' }))
    await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: web.facts.project_api_key, batch }),
    })
    const names = async () =>
      (await web.api<{ results: object[] }>('GET', `/api/projects/${web.facts.project_id}/event_definitions/`)).results.length
    await expect.poll(names).toBe(3)
    // It looks for the first event by itself.
    const starter = page.getByRole('region', { name: 'First dashboard' })
    await starter.getByRole('button', { name: 'Make a dashboard' }).click()
    const dialog = page.getByRole('dialog')
    expect(await accessibilityFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Software as a service' }).waitFor()
    await settled(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})
