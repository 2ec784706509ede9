import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, dialogClosed, hasBrowser, openNumbers, openWeb, owner, signOut, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('insights in a browser', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('the first run: a password, the list of events, signing out and in again', async () => {
    const page = await web.page()
    await page.goto(web.facts.url)
    await page.getByText('Choose a password').waitFor()
    await page.goto(web.facts.setup_url.replace(/secret=.*/, 'secret=wrong'))
    await page.reload()
    await page.getByLabel('Your name').fill(owner.name)
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.getByRole('alert').getByText('This link is not valid').waitFor()
    web.complaints.length = 0 // the refusal
    await page.context().close()

    const signedIn = await web.signedIn()
    await signedIn.goto(web.facts.url)
    await signedIn.getByRole('heading', { level: 1, name: /^Good / }).waitFor()
    await signedIn.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Live' }).click()
    await signedIn.getByRole('heading', { name: 'Live' }).waitFor()
    await signedIn.getByRole('button', { name: 'Pageview' }).first().waitFor()
    expect(await accessibilityFindings(signedIn)).toEqual([])

    const again = await web.page()
    await again.goto(web.facts.url)
    await again.getByLabel('E-mail address').fill(owner.email)
    await again.getByLabel('Password').fill(owner.password)
    expect(await accessibilityFindings(again)).toEqual([])
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.getByRole('heading', { level: 1, name: /^Good / }).waitFor()
    await signOut(again)
    await again.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('a project without events says how to send the first one, and shows it', async () => {
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/live`)
    await page.getByRole('heading', { name: 'Waiting for the first event' }).waitFor()
    const name = '<img src=x onerror="document.title=1"> & <script>1</script>'
    const sent = await fetch(`${web.facts.url}/capture/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: web.facts.project_api_key, event: name, distinct_id: 'me', properties: { [name]: name } }),
    })
    expect(sent.status).toBe(200)
    await page.getByRole('button', { name }).click()
    expect(await page.locator('dd', { hasText: name }).count()).toBe(1)
  })

  test('a trend by clicks has the numbers of the API, and the people behind a point', async () => {
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?kind=trends`)
    await page.getByLabel('Event A', { exact: true }).fill('purchase')
    await page.getByLabel('Event A', { exact: true }).press('Enter')
    await page.getByLabel('What is counted in A').selectOption('dau')
    await page.getByLabel('Chart', { exact: true }).selectOption('ActionsBar')
    await openNumbers(page)
    const { results } = await web.api<{ results: { data: number[]; count: number }[] }>('POST', `/api/projects/${web.demo}/query/`, {
      query: {
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'purchase', math: 'dau' }],
        interval: 'day',
        dateRange: { date_from: '-30d' },
      },
    })
    const numbers = page.getByRole('region', { name: 'Numbers' })
    await expect.poll(async () => (await numbers.locator('tbody td').allTextContents()).slice(2).map(Number)).toEqual(results[0]!.data)
    expect(await accessibilityFindings(page)).toEqual([])
    // By keyboard: to the last interval with people, and Enter.
    const chart = page.getByRole('slider')
    await chart.focus()
    const last = results[0]!.data.findLastIndex((value) => value > 0)
    for (let i = 0; i <= last; i++) await chart.press('ArrowRight')
    await chart.press('Enter')
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.locator('.people tr').count()).toBe(results[0]!.data[last])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  })

  test('each kind of insight is answered and drawn', async () => {
    const page = await web.signedIn()
    for (const kind of ['funnel', 'retention', 'paths', 'stickiness', 'lifecycle']) {
      await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?kind=${kind}`)
      await page.reload()
      const answer = page.getByRole('region', { name: 'Answer' })
      await answer.locator('.result svg, .result table.retention').first().waitFor()
      await answer.getByText('Computed').waitFor()
      expect(await answer.getByRole('alert').count(), kind).toBe(0)
      expect(await accessibilityFindings(page), kind).toEqual([])
    }
  })

  test('saved, opened again, and changed', async () => {
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?kind=funnel`)
    let letThrough: () => void = () => undefined
    const isLetThrough = new Promise<void>((resolve) => {
      letThrough = resolve
    })
    await page.route(/\/dashboards\/\?/, async (route) => {
      await isLetThrough
      await route.continue()
    })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('To a purchase')
    // A button that moves between press and release was not clicked.
    const save = page.getByRole('dialog').getByRole('button', { name: 'Save' })
    const before = await save.boundingBox()
    letThrough()
    await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
    expect(await save.boundingBox()).toEqual(before)
    await save.click()
    await page.getByRole('heading', { name: 'To a purchase' }).waitFor()
    await page.getByRole('button', { name: 'Time to convert', exact: true }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Save changes' }).waitFor({ state: 'hidden' })
    const { results } = await web.api<{ results: { name: string; query: { source: { funnelsFilter: object } } }[] }>(
      'GET',
      `/api/projects/${web.demo}/insights/?saved=true`,
    )
    expect(results.find(({ name }) => name === 'To a purchase')).toMatchObject({
      query: { source: { funnelsFilter: { funnelVizType: 'time_to_convert' } } },
    })

    // Put on a dashboard, and taken off again.
    const dashboards = async () => {
      await page.locator('summary[aria-label="More"]').click()
      await page.getByRole('button', { name: 'Dashboards…' }).click()
    }
    const dialog = page.getByRole('dialog')
    await dashboards()
    await dialog.getByRole('group', { name: 'On dashboards' }).getByRole('checkbox').first().check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'On a dashboard' }).waitFor()
    const stored = async () => {
      const list = await web.api<{ results: { name: string; dashboards: number[] }[] }>(
        'GET',
        `/api/projects/${web.demo}/insights/?saved=true`,
      )
      return list.results.find(({ name }) => name === 'To a purchase')
    }
    expect((await stored())?.dashboards.length).toBe(1)
    await dashboards()
    await dialog.getByRole('checkbox').first().uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialogClosed(page)
    expect((await stored())?.dashboards).toEqual([])
  })

  test('by keyboard only: commands lead to pages', async () => {
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/live`)
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('insights')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Insights' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await page.getByRole('heading', { name: 'Live' }).waitFor()
  })
})
