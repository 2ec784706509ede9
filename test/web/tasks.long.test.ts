import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openWeb, type Web } from './browser.ts'

// Five things that people come for, each from the first page and by what is in sight: with the number of clicks, which docs/interface.md has too. A choice in a native list is two.

const clicks = { chart: 9, cohort: 6, wall: 6, alert: 7, imported: 5 } as const

describe.skipIf(!hasBrowser)('five tasks', () => {
  let web: Web
  let page: Page
  let count = 0
  const received: { type: string; data: { insights: { picture?: string }[] } }[] = []
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push(JSON.parse(body))
    response.end()
  })

  beforeAll(async () => {
    await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
    web = await openWeb({ args: ['--private-plugin-requests'] })
    page = await web.signedIn()
    page.setDefaultTimeout(20_000)
  })
  afterAll(async () => {
    await web.close()
    await new Promise((closed) => receiver.close(closed))
    expect(web.complaints).toEqual([])
  })

  const click = async (on: Locator) => {
    count++
    await on.click()
  }
  const choose = async (list: Locator, choice: { label: string }) => {
    count += 2
    await list.selectOption(choice)
  }
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog').last()
  const begin = async () => {
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${web.demo}/home`)
    await page.getByRole('region', { name: 'Weekly active people' }).getByRole('img').first().waitFor()
    count = 0
  }
  const pages = (name: string) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true })
  const typed = (text: string) => page.keyboard.type(text)
  const send = async (event: string) => {
    const { api_token } = await web.api<{ api_token: string }>('GET', `/api/projects/${web.demo}/`)
    const response = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: api_token, batch: [{ event, distinct_id: 'on the wall' }] }),
    })
    expect(response.status).toBe(200)
  }

  test('weekly active people by plan, with a goal line', async () => {
    await begin()
    await click(pages('Insights'))
    await click(page.getByRole('link', { name: /^New: Trends/ }))
    await choose(page.getByLabel('What is counted in A', { exact: true }), { label: 'Weekly active people' })
    await click(button('+ Add a breakdown'))
    await typed('plan')
    await click(
      page
        .getByRole('group', { name: /person/i })
        .getByRole('option', { name: /^plan/i })
        .first(),
    )
    await click(page.getByText('Options', { exact: true }))
    await page.getByLabel('Number of the goal line').fill('100')
    count++
    await page.keyboard.press('Enter')
    await page.getByText('Goal 100').first().waitFor()
    await click(button('Save'))
    await typed('Weekly actives by plan')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Weekly actives by plan' }).waitFor()
    await page.getByRole('columnheader', { name: 'Latest' }).waitFor()
    expect(count).toBe(clicks.chart)
  })

  test('from a drop-off to a cohort', async () => {
    await begin()
    await click(pages('Insights'))
    await click(page.getByRole('link', { name: /^New: Funnel/ }))
    await click(button('+ Add a step'))
    await typed('purchase')
    await page.keyboard.press('Enter')
    await page.locator('.answer svg').getByText('3. purchase').waitFor()
    await click(page.locator('.answer svg text').filter({ hasText: /^−/ }).last())
    const counted = page.getByRole('dialog', { name: 'Dropped off before purchase' }).locator('.people-count')
    const people = Number(/([\d,]+) people/.exec((await counted.textContent()) ?? '')![1]!.replace(',', ''))
    await click(dialog().getByRole('button', { name: 'Save as cohort' }))
    await page.getByRole('dialog').last().getByLabel('Name').fill('Dropped')
    await click(button(`Save ${people} people`))
    await page.getByText(`with ${people} people`).waitFor()
    expect(count).toBe(clicks.cohort)
  })

  test('a dashboard on a wall, which moves', async () => {
    await web.api('POST', `/api/projects/${web.demo}/insights/`, {
      name: 'Rung',
      saved: true,
      query: {
        kind: 'InsightVizNode',
        source: {
          kind: 'TrendsQuery',
          series: [{ kind: 'EventsNode', event: 'rung' }],
          dateRange: { date_from: '-7d' },
          trendsFilter: { display: 'BoldNumber' },
        },
      },
    })
    await begin()
    await click(pages('Dashboards'))
    await click(button('New dashboard'))
    await typed('Wall')
    await page.keyboard.press('Enter')
    await click(button('Add insight'))
    await click(dialog().getByRole('button', { name: 'Rung' }))
    await dialog().getByText('Added').waitFor()
    await click(dialog().getByRole('button', { name: 'Visitors per day' }))
    await page.keyboard.press('Escape')
    await click(button('Full screen'))
    await page.locator('.wall .tile').nth(1).locator('svg').first().waitFor()
    // Nothing but the tiles, and the line under them.
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(await page.locator('.wall').getByRole('button').allInnerTexts()).toEqual(expect.arrayContaining(['Leave full screen']))
    expect(await page.locator('.wall header button:visible, .wall summary:visible').count()).toBe(0)
    const number = () => page.getByRole('region', { name: 'Rung' }).getByRole('img').first().getAttribute('aria-label')
    for (const times of [1, 2]) {
      await send('rung')
      await expect.poll(number, { timeout: 20_000 }).toContain(`: ${times}`)
    }
    await page.getByText(/Live, new events/).waitFor()
    const fits = '(() => { const wall = document.querySelector(".wall"); return wall.scrollHeight <= wall.clientHeight + 1 })()'
    expect(await page.evaluate(fits)).toBe(true)
    // The address is the wall: another screen begins there.
    await page.reload()
    await page.locator('.wall .tile').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Wall' }).waitFor()
    expect(count).toBe(clicks.wall)
  })

  test('an alert that reaches a webhook, with a picture', async () => {
    await begin()
    await click(pages('Insights'))
    await click(page.getByRole('link', { name: 'Weekly actives by plan', exact: true }))
    await click(button('Alerts'))
    await dialog().getByLabel('Name').fill('Over the goal')
    count++
    await dialog().getByLabel('Alert above').fill('1')
    count++
    await dialog()
      .getByLabel('Webhook (optional)')
      .fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
    await click(dialog().getByRole('button', { name: 'Create the alert' }))
    const its = dialog().getByRole('listitem').filter({ hasText: 'Over the goal' })
    await its.getByText('Firing', { exact: true }).waitFor()
    await click(its.getByRole('button', { name: 'Send a test of Over the goal' }))
    await its.getByText(/: delivered\.$/).waitFor()
    expect(received.map(({ type }) => type).toSorted()).toEqual(['alert.firing', 'alert.test'])
    for (const { data } of received) expect(data.insights[0]!.picture).toMatch(/^<svg|^data:image/)
    expect(count).toBe(clicks.alert)

    // Its threshold is changed where it is shown.
    await its.getByRole('button', { name: 'Edit Over the goal' }).click()
    expect(await dialog().getByLabel('Alert above').inputValue()).toBe('1')
    await dialog().getByLabel('Alert above').fill('100000')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await its.getByText('more than 100,000').waitFor()
    await its.getByText('Not firing', { exact: true }).waitFor()
  })

  test('a table imported and undone', async () => {
    const lines = Array.from(
      { length: 30 },
      (_, n) => `customer-${n};Order placed;${String(1 + (n % 28)).padStart(2, '0')}.11.2026 14:20;${n},50`,
    )
    const csv = ['Customer;Action;When;Amount (EUR)', ...lines].join('\n')
    await begin()
    await click(pages('Import'))
    count++
    await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    // Columns and formats are found by themselves.
    await page.getByText('All of the 30 rows of the file can be read').waitFor()
    await click(button('Import'))
    await page.getByText('Imported orders.csv').waitFor()
    const known = async () => {
      const { results } = await web.api<{ results: { name: string }[] }>(
        'GET',
        `/api/projects/${web.demo}/event_definitions/?search=Order%20placed`,
      )
      return results.map(({ name }) => name)
    }
    const amounts = async () =>
      (await web.api<{ count: number }>('GET', `/api/projects/${web.demo}/property_definitions/?type=event&search=Amount%20(EUR)`)).count
    expect(await known()).toEqual(['Order placed'])
    expect(await amounts()).toBe(1)
    const record = page.getByRole('region', { name: 'Imports' }).getByRole('row', { name: /orders\.csv/ })
    await click(record.getByRole('button', { name: 'Undo' }))
    await click(button('Remove its events'))
    await record.getByText('30 events and 30 people removed').waitFor()
    expect(await known()).toEqual([])
    expect(await amounts()).toBe(0)
    expect(count).toBe(clicks.imported)
  })
})
