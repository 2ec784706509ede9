import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasBrowser, openWeb, owner, signOut, type Web } from './browser.ts'

// More of everything than a list shows, and two windows at once.

describe.skipIf(!hasBrowser)('a crowded project', () => {
  let web: Web
  const base = () => `/api/projects/${web.facts.project_id}/`
  const at = (path: string) => `${web.facts.url}/#/project/${web.facts.project_id}/${path}`
  const [events, boards] = [620, 70]

  beforeAll(async () => {
    web = await openWeb({ hasDemo: false, args: ['--api-limit', '0'] })
    const batch = Array.from({ length: events }, (_, i) => ({
      event: `event ${i}`,
      distinct_id: 'someone',
      properties: { [`property ${i}`]: i },
    }))
    const sent = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: web.facts.project_api_key, batch }),
    })
    expect(sent.ok).toBe(true)
    for (let i = 0; i < boards; i++) await web.api('POST', `${base()}dashboards/`, { name: `Board ${i}` })
    const counted = () => web.api<{ count: number }>('GET', `${base()}event_definitions/?limit=1`)
    await vi.waitUntil(async () => (await counted()).count >= events, { timeout: 60_000 })
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('an insight is put on dashboards that are found by their names', async () => {
    const page = await web.signedIn()
    await page.goto(at('insights/new?kind=trends'))
    await page.getByText(/^Computed/).waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Save the insight' })
    await dialog.getByLabel('Name', { exact: true }).fill('Everywhere')
    for (const name of ['Board 68', 'Board 3']) {
      await dialog.getByLabel('Search dashboards').fill(name)
      await dialog.getByRole('checkbox', { name, exact: true }).check()
    }
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Everywhere' }).waitFor()
    const { results: all } = await web.api<{ results: { id: number; name: string }[] }>('GET', `${base()}dashboards/?limit=100`)
    const { results } = await web.api<{ results: { dashboards: number[] }[] }>('GET', `${base()}insights/?saved=true`)
    const names = results[0]!.dashboards.map((id) => all.find((one) => one.id === id)?.name)
    expect(names.sort()).toEqual(['Board 3', 'Board 68'])
    await page.context().close()
  })

  test('events and properties beyond the first are suggested once a part of them is typed', async () => {
    const page = await web.signedIn()
    await page.goto(at('insights/new?kind=trends'))
    await page.getByText(/^Computed/).waitFor()
    const suggested = (text: string) => page.getByRole('option', { name: new RegExp(`^${text}\\b`) }).count()
    const field = page.getByLabel('Event A', { exact: true })
    const known = `/api/projects/${web.facts.project_id}/event_definitions/?limit=500`
    const first = new Set((await web.api<{ results: { name: string }[] }>('GET', known)).results.map((one) => one.name))
    const name = Array.from({ length: events }, (_, i) => `event ${i}`).find((one) => !first.has(one))!
    expect(name).toMatch(/^event/)
    await field.click()
    await page
      .getByText(/^and [\d,]+ more: type to find them$/)
      .first()
      .waitFor()
    // Enter at once: what fits is waited for.
    await field.fill(name)
    await field.press('Enter')
    await expect.poll(() => field.inputValue()).toBe(name)
    await expect.poll(() => page.locator('.result').textContent()).toContain(name)
    await page.getByRole('group', { name: 'Split by' }).getByRole('button', { name: 'Add a breakdown' }).click()
    const property = name.replace('event', 'property')
    await page.getByLabel('Property of the breakdown').fill(property)
    await expect.poll(() => suggested(property)).toBeGreaterThan(0)
    await page.context().close()
  })

  test('every project can be chosen, however many pages they are', async () => {
    const { id } = await web.api<{ id: number }>('POST', '/api/projects/', { name: 'The second' })
    const page = await web.signedIn()
    await page.route(/\/api\/projects\/\?limit=200$/, (route) => route.continue({ url: route.request().url().replace('200', '1') }))
    await page.goto(`${web.facts.url}/#/project/${id}/dashboards`)
    await page.getByRole('heading', { name: 'Dashboards' }).waitFor()
    expect(await page.getByLabel('Project', { exact: true }).locator('option').count()).toBe(2)
    await page.context().close()
  })

  test('a session that ended in another window: the page asks to sign in, and is there again afterwards', async () => {
    const page = await web.page()
    await page.goto(web.facts.url)
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor()
    await page.goto(at('people'))
    const other = await page.context().newPage()
    await other.goto(at('live'))
    await signOut(other)
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'Dashboards' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Dashboards' }).waitFor()
    await page.context().close()
    web.complaints.splice(0, web.complaints.length, ...web.complaints.filter((text) => !/status of 401/.test(text)))
  })

  test('a page that cannot be loaded says so, and is there once the server is', async () => {
    const page = await web.signedIn()
    await page.goto(at('dashboards'))
    await page.getByRole('heading', { name: 'Dashboards' }).waitFor()
    await page.route(/\/assets\/cohorts-/, (route) => route.abort('connectionrefused'))
    await page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'Cohorts' }).click()
    await page.getByRole('alert').getByText('This page could not be loaded.').waitFor()
    await page.unroute(/\/assets\/cohorts-/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Cohorts' }).waitFor()
    web.complaints.splice(0, web.complaints.length, ...web.complaints.filter((text) => !/ERR_CONNECTION_REFUSED/.test(text)))
    await page.context().close()
  })

  test('two windows change one dashboard: neither undoes the other', async () => {
    const board = await web.api<{ id: number }>('POST', `${base()}dashboards/`, { name: 'Shared' })
    const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: null }] }
    for (const name of ['one', 'two', 'three'])
      await web.api('POST', `${base()}insights/`, { name, saved: true, dashboards: [board.id], query })
    const [first, second] = [await web.signedIn(), await web.signedIn()]
    for (const page of [first, second]) {
      await page.goto(at(`dashboards/${board.id}`))
      await page.getByRole('link', { name: 'three' }).waitFor()
    }
    const stored = async () => {
      const { tiles } = await web.api<{ tiles: { insight: { name: string }; layouts?: { sm?: { h: number } } }[] }>(
        'GET',
        `${base()}dashboards/${board.id}/`,
      )
      return Object.fromEntries(tiles.map(({ insight, layouts }) => [insight.name, layouts?.sm?.h]))
    }
    await first.getByLabel('More for one').click()
    await first.getByRole('button', { name: 'Remove from dashboard' }).click()
    await expect.poll(async () => Object.keys(await stored())).not.toContain('one')
    // The other window still shows it.
    await second.getByRole('button', { name: 'Edit layout' }).click()
    await second.getByLabel('More for two').click()
    await second.getByRole('button', { name: 'Taller', exact: true }).click()
    await expect.poll(async () => (await stored()).two).toBeGreaterThan(0)
    expect(Object.keys(await stored()).sort()).toEqual(['three', 'two'])
    // Its own change has told it.
    await second.getByRole('link', { name: 'one', exact: true }).waitFor({ state: 'detached' })
    for (const page of [first, second]) await page.context().close()
  })

  test('back and forward lead through every page', async () => {
    const page = await web.signedIn()
    const pages = ['insights', 'dashboards', 'data/events', 'settings/members', 'sql']
    const titles = ['Insights', 'Dashboards', 'Events and properties', 'Settings', 'SQL']
    for (const path of pages) {
      await page.goto(at(path))
      await page.getByRole('heading', { level: 1, name: titles[pages.indexOf(path)]!, exact: true }).waitFor()
    }
    for (const title of titles.slice(0, -1).reverse()) {
      await page.goBack()
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
    }
    await page.goForward()
    await page.getByRole('heading', { level: 1, name: 'Dashboards', exact: true }).waitFor()
    await page.context().close()
  })
})
