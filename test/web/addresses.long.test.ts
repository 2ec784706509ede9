import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openWeb, type Web } from './browser.ts'

// Addresses that do not exist say so. They do not show another page.

describe.skipIf(!hasBrowser)('addresses', () => {
  let web: Web
  let dashboard: number
  beforeAll(async () => {
    web = await openWeb()
    const { results } = await web.api<{ results: { id: number }[] }>('GET', `/api/projects/${web.demo}/dashboards/`)
    dashboard = results[0]!.id
  })
  afterAll(async () => {
    await web.close()
  })

  const noPage = 'There is no such page'
  const noProject = 'This project does not exist, or you may not see it'
  const noPerson = 'There is no such person'
  /** `PROJECT` and `DASHBOARD` are ids that exist. */
  const cases: readonly (readonly [address: string, title: string])[] = [
    ['nothing', noPage],
    ['nothing/PROJECT/live', noPage],
    ['project/PROJECT/nothing', noPage],
    ['project/PROJECT/live/more', noPage],
    ['project/PROJECT/insights/new/more', noPage],
    ['project/PROJECT/dashboards/DASHBOARD/more', noPage],
    ['project/PROJECT/sql/more', noPage],
    ['project/PROJECT/web/more', noPage],
    ['project/PROJECT/people/by-id/more?distinct_id=user-1', noPage],
    ['project/PROJECT/people/groups/0/company-1/more', noPage],
    ['project/PROJECT/people//more', noPage],
    ['project/PROJECT//live', noPage],
    ['project/PROJECT/cohorts/new/more', noPage],
    ['project/PROJECT/data/events/more', noPage],
    ['project/PROJECT/pipelines/plugins/install', noPage],
    ['project/PROJECT/pipelines/plugins/1.0', noPage],
    ['project/PROJECT/pipelines/exports/new/more', noPage],
    ['project/PROJECT/settings/project/more', noPage],
    ['project/PROJECT.0/live', noProject],
    ['project/0PROJECT/live', noProject],
    ['project/987654/live', noProject],
    ['project', noProject],
    ['project/PROJECT/insights/new?kind=nothing', 'There is no such kind of insight'],
    ['project/PROJECT/insights/new?q={"kind', 'There is no query in this address'],
    ['project/PROJECT/insights/nothing1', 'This insight does not exist any more'],
    ['project/PROJECT/dashboards/987654', 'This dashboard does not exist any more'],
    ['project/PROJECT/dashboards/DASHBOARDx', 'This dashboard does not exist any more'],
    ['project/PROJECT/people/by-id', noPerson],
    ['project/PROJECT/people/by-id?distinct_id=', noPerson],
    ['project/PROJECT/people/00000000-0000-4000-8000-000000000000', noPerson],
    ['project/PROJECT/people/groups/4', 'There is no such type of group'],
    ['project/PROJECT/people/groups/0/nobody', 'There is no group with this key'],
    ['project/PROJECT/cohorts/987654', 'There is no such cohort'],
    ['project/PROJECT/pipelines/exports/00000000-0000-4000-8000-000000000000', 'There is no such batch export'],
    ['project/PROJECT/pipelines/plugins/987654', 'There is no such plugin here'],
    ['project/PROJECT/pipelines/plugins/install/987654', 'There is no such plugin here'],
    ['project/PROJECT/data/nothing', 'There is no such part'],
    ['project/PROJECT/pipelines/nothing', 'There is no such pipeline'],
    ['project/PROJECT/settings/nothing', 'There are no such settings'],
    ['project/PROJECT/sql?view=00000000-0000-4000-8000-000000000000', 'This saved query cannot be opened'],
  ]
  test('one that does not exist says so', async () => {
    const page = await web.signedIn()
    const wrong: string[] = []
    for (const [address, title] of cases) {
      const path = address.replace('PROJECT', String(web.demo)).replace('DASHBOARD', String(dashboard))
      await page.goto('about:blank')
      await page.goto(`${web.facts.url}/#/${path}`)
      await page.getByRole('heading').or(page.getByRole('alert')).first().waitFor()
      const said = page.getByRole('heading', { name: title })
      await said.waitFor({ timeout: 5_000 }).catch(async () => {
        wrong.push(`${address}: ${(await page.getByRole('heading').or(page.getByRole('alert')).allInnerTexts()).join(', ')}`)
      })
      if ((await page.getByRole('main').count()) !== 1) wrong.push(`${address}: it has no main landmark, or several`)
    }
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('the title of the window is that of the page, also where it cannot be read', async () => {
    const page = await web.signedIn()
    const at = (path: string) => `${web.facts.url}/#/project/${web.demo}/${path}`
    const title = () => expect.poll(() => page.title())
    await page.goto(at('data/events'))
    await title().toBe('Events and properties · Waymark')
    await page.goto(at('insights/nothing1'))
    await title().toBe('This insight does not exist any more · Waymark')
    await page.goto(at('nothing'))
    await title().toBe('There is no such page · Waymark')
    await page.goto(at('data/events'))
    await title().toBe('Events and properties · Waymark')
    await page.route(/\/dashboards\//, (route) => route.fulfill({ status: 503, body: '{}' }))
    await page.goto(at(`dashboards/${dashboard}`))
    await page.locator('main').getByRole('alert').waitFor()
    await title().toBe('Dashboards · Waymark')
    await page.context().close()
  })

  test('the events of a person and of a group are limited by the address', async () => {
    const page = await web.signedIn()
    const { results } = await web.api<{ results: { uuid: string }[] }>('GET', `/api/projects/${web.demo}/persons/?search=user-1&limit=1`)
    for (const path of [`people/${results[0]!.uuid}`, 'people/groups/0/company-1']) {
      await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
      const events = page.getByRole('region', { name: 'Events', exact: true })
      await events.getByLabel('Only this event').fill('nothing like this')
      await events.getByLabel('Only this event').press('Enter')
      await events.getByText('No events of this name.').waitFor()
      await page.getByRole('link', { name: 'Cohorts', exact: true }).first().click()
      await page.getByRole('heading', { name: 'Cohorts', level: 1 }).waitFor()
      await page.goBack()
      await events.getByText('No events of this name.').waitFor()
      expect(await events.getByLabel('Only this event').inputValue()).toBe('nothing like this')
    }
    await page.context().close()
  })

  test('an address without a page leads to the first one', async () => {
    const page = await web.signedIn()
    for (const path of ['', '#/', `#/project/${web.demo}`, `#/project/${web.demo}/`, '#/setup?secret=used']) {
      await page.goto('about:blank')
      await page.goto(`${web.facts.url}/${path}`)
      await page.getByRole('heading', { level: 1, name: /^Good / }).waitFor()
      expect(page.url()).toMatch(/#\/project\/\d+\/home$/)
    }
    await page.context().close()
  })

  test('the button that opens the name of a series says whether it is open', async () => {
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?kind=trends`)
    await page.getByRole('button', { name: 'Rename A', expanded: false }).click()
    await page.getByRole('button', { name: 'Rename A', expanded: true }).waitFor()
    await page.getByLabel('Name of A').waitFor()
    await page.context().close()
  })

  test.each([
    ['undefined', 'a page without TLS'],
    ['{ writeText: () => Promise.reject(new Error("refused")) }', 'a browser that refuses'],
  ])('copying works without the clipboard of scripts: %s (%s)', async (clipboard) => {
    const page = await web.signedIn()
    const before = web.complaints.length
    await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { get: () => (${clipboard}) })`)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/settings/project`)
    const { api_token } = await web.api<{ api_token: string }>('GET', `/api/projects/${web.demo}/`)
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    // Into a field, as a person would.
    await page.goto(`${web.facts.url}/#/project/${web.demo}/people`)
    await page.getByLabel('Search people').click()
    await page.keyboard.press('Control+v')
    expect(await page.getByLabel('Search people').inputValue()).toBe(api_token)
    expect(web.complaints.slice(before)).toEqual([])
    await page.context().close()
  })
})
