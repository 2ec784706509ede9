import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessibilityFindings, dialogClosed, hasBrowser, openWeb, settled, type Web } from './browser.ts'

// What people read of alerts and subscriptions, with a real receiver: whether somebody was told, and why not.

interface Notified {
  readonly id: string
  readonly state: string
  readonly last_delivery: { readonly status: string } | null
}

describe.skipIf(!hasBrowser)('alerts and subscriptions in a browser', () => {
  let web: Web
  let page: Page
  let receiver: Server
  let hook: string
  let status = 200
  const types: string[] = []
  const base = () => `/api/projects/${web.demo}/`
  const dialog = () => page.getByRole('dialog')
  const trend = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'purchase' }], dateRange: { date_from: '-7d' } }
  const makeInsight = (name: string) =>
    web.api<{ id: number; short_id: string }>('POST', `${base()}insights/`, { name, saved: true, query: trend })
  const makeAlert = (insight: number, name: string, more: object = {}) =>
    web.api<Notified>('POST', `${base()}alerts/`, {
      insight,
      name,
      condition: { type: 'absolute_value' },
      threshold: { configuration: { type: 'absolute', bounds: { upper: -1 } } },
      webhook_url: hook,
      ...more,
    })
  const delivered = (id: string, wanted: string) =>
    expect
      .poll(async () => (await web.api<Notified>('GET', `${base()}alerts/${id}/`)).last_delivery?.status, { timeout: 60_000 })
      .toBe(wanted)
  const card = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })
  const open = async (path: string) => {
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
    await page.locator('main').getByRole('heading', { level: 1 }).waitFor()
    await settled(page)
  }

  beforeAll(async () => {
    receiver = createServer(async (request, response) => {
      let text = ''
      for await (const part of request.setEncoding('utf8')) text += part
      types.push(JSON.parse(text).type)
      response.writeHead(status).end()
    })
    await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready))
    hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    web = await openWeb({ args: ['--private-plugin-requests'] })
    page = await web.signedIn()
  })
  beforeEach(() => {
    status = 200
    types.length = 0
  })
  afterAll(async () => {
    await web.close()
    await new Promise((done) => receiver.close(done))
    expect(web.complaints).toEqual([])
  })

  test('the dialog says that a notice was not delivered and why, lists deliveries, and sends tests', async () => {
    status = 410
    const insight = await makeInsight('Refused')
    const { id } = await makeAlert(insight.id, 'Loud')
    await delivered(id, 'failed')
    await open(`insights/${insight.short_id}`)
    await page.getByRole('button', { name: 'Alerts', exact: true }).click()
    const its = dialog().getByRole('listitem').filter({ hasText: 'Loud' })
    await its.getByText('Firing, not delivered', { exact: true }).waitFor()
    await its.getByText(/not delivered to http:\/\/127\.0\.0\.1:\d+\/hook: 127\.0\.0\.1:\d+ answered with status 410\./).waitFor()
    await its.getByText('Deliveries', { exact: true }).click()
    const rows = its.getByRole('region', { name: 'deliveries' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await rows.first().textContent()).toMatch(/Not delivered.*answered with status 410/)
    await its.getByRole('button', { name: 'Send a test of Loud' }).click()
    await its
      .getByRole('status', { name: 'Outcome of the test' })
      .getByText(/not delivered\. .*410/)
      .waitFor()
    status = 200
    await its.getByRole('button', { name: 'Send a test of Loud' }).click()
    await its
      .getByRole('status', { name: 'Outcome of the test' })
      .getByText(/: delivered\.$/)
      .waitFor()
    await expect.poll(() => rows.count()).toBe(3)
    expect(await rows.first().textContent()).toMatch(/Delivered \(test\)/)
    // The notice itself has still not arrived.
    expect(await its.getByText('Firing, not delivered', { exact: true }).count()).toBe(1)
    expect(await accessibilityFindings(page)).toEqual([])
    await rows
      .last()
      .getByRole('button', { name: /^Send again/ })
      .click()
    await delivered(id, 'delivered')
    expect(types).toEqual(['alert.firing', 'alert.test', 'alert.test', 'alert.firing'])
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    await page.getByRole('button', { name: 'Alerts', exact: true }).click()
    await dialog().getByText('Firing', { exact: true }).waitFor()
  })

  test('an alert on the conversion of a funnel: chosen by its words, in percent', async () => {
    const series = ['$pageview', 'purchase'].map((event) => ({ kind: 'EventsNode', event }))
    const insight = await web.api<{ id: number; short_id: string }>('POST', `/api/projects/${web.demo}/insights/`, {
      name: 'To buy',
      saved: true,
      query: { kind: 'FunnelsQuery', series, dateRange: { date_from: '-30d' } },
    })
    await open(`insights/${insight.short_id}`)
    await page.getByRole('button', { name: 'Alerts', exact: true }).click()
    await dialog().getByLabel('Name').fill('Few buy')
    await dialog().getByLabel('Number').selectOption({ label: 'Conversion to step 2: purchase' })
    expect(await dialog().getByLabel('Compare').count()).toBe(0)
    await dialog().getByLabel('Alert below (%)').fill('99')
    await dialog().getByLabel('Webhook (optional)').fill(hook)
    await dialog().getByRole('button', { name: 'Create the alert' }).click()
    await dialog().getByRole('heading', { name: 'Few buy' }).waitFor()
    await expect.poll(() => types).toEqual(['alert.firing'])
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('an address that would be refused is refused at its field, and mails are not offered without a mail server', async () => {
    const insight = await makeInsight('Typed')
    await open(`insights/${insight.short_id}`)
    await page.getByRole('button', { name: 'Alerts', exact: true }).click()
    await dialog().getByText('no mail server is configured').waitFor()
    expect(await dialog().getByRole('group', { name: 'Email to' }).getByRole('checkbox').count()).toBe(0)
    await dialog().getByLabel('Name').fill('Metadata')
    await dialog().getByLabel('Alert above').fill('1')
    const field = dialog().getByLabel('Webhook (optional)')
    await field.fill('http://169.254.169.254/latest/meta-data')
    await dialog().getByRole('button', { name: 'Create the alert' }).click()
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    const described = await field.getAttribute('aria-describedby')
    expect(await dialog().locator(`[id="${described}"]`).textContent()).toContain('connects only to public addresses')
    expect(await field.and(page.locator(':focus')).count()).toBe(1)
    expect(await dialog().locator('.error-box').count()).toBe(0)
    await field.fill(hook)
    await dialog().getByRole('button', { name: 'Create the alert' }).click()
    await dialog().getByRole('heading', { name: 'Metadata' }).waitFor()
    expect(await field.getAttribute('aria-invalid')).toBeNull()
    web.complaints.splice(0, web.complaints.length, ...web.complaints.filter((one) => !/status of 400.*\/alerts\//.test(one)))
  })

  test('a page has all alerts of the project: state, check, delivery, insight; they are tested, switched off and removed there', async () => {
    status = 410
    const insight = await makeInsight('Shown on the page')
    const { id } = await makeAlert(insight.id, 'On the page')
    await makeAlert(insight.id, 'Tells nobody', { webhook_url: null })
    await delivered(id, 'failed')
    await open('insights')
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Alerts' }).click()
    const its = card('On the page')
    await its.getByText('Firing, not delivered', { exact: true }).waitFor()
    await its.getByText(/^Every day\. Last check: /).waitFor()
    await its
      .getByText(/answered with status 410/)
      .first()
      .waitFor()
    await expect
      .poll(
        async () => {
          await page.reload()
          return card('Tells nobody').getByText('Firing, notifies nobody', { exact: true }).isVisible()
        },
        { timeout: 60_000, interval: 1000 },
      )
      .toBe(true)
    expect(await accessibilityFindings(page)).toEqual([])
    status = 200
    await its.getByRole('button', { name: 'Send a test of On the page' }).click()
    await its.getByText(/^Test to .*: delivered\.$/).waitFor()
    await its.getByRole('button', { name: 'Switch off On the page' }).click()
    await its.getByText('Off', { exact: true }).waitFor()
    await its.getByRole('link', { name: 'Shown on the page' }).click()
    await page.getByRole('heading', { level: 1, name: 'Shown on the page' }).waitFor()
    await open('alerts')
    await card('On the page').getByRole('button', { name: 'Remove On the page' }).click()
    await dialog().getByRole('button', { name: 'Remove it' }).click()
    await expect.poll(() => card('On the page').count()).toBe(0)
    await expect(web.api('GET', `${base()}alerts/${id}/`)).rejects.toThrow('404')
  })

  test('a dashboard is subscribed to in its menu; the page of subscriptions tests, pauses and ends it', async () => {
    const board = await web.api<{ id: number }>('POST', `${base()}dashboards/`, { name: 'Sent board' })
    await web.api('PATCH', `${base()}insights/${(await makeInsight('On the board')).id}/`, { dashboards: [board.id] })
    await open(`dashboards/${board.id}`)
    await page.locator('.page-head').getByLabel('More').click()
    await page.getByRole('button', { name: 'Subscribe' }).click()
    // Without a mail server the webhook is what is left.
    await dialog().getByLabel('Address of the webhook').fill(hook)
    await dialog().getByLabel('Title').fill('Weekly board')
    await dialog().getByLabel('First time').fill('2030-01-07T09:00')
    await dialog().getByRole('button', { name: 'Create the subscription' }).click()
    await dialog().getByRole('heading', { name: 'Weekly board' }).waitFor()
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    await open('alerts/subscriptions')
    const its = card('Weekly board')
    await its.getByText('Sending', { exact: true }).waitFor()
    await its.getByRole('link', { name: 'Sent board' }).waitFor()
    status = 410
    await its.getByRole('button', { name: 'Send a test of Weekly board' }).click()
    await its.getByText(/^Test to .*: not delivered\. .*410/).waitFor()
    expect(types).toEqual(['subscription.test'])
    await its.getByRole('button', { name: 'Pause Weekly board' }).click()
    await its.getByText('Paused', { exact: true }).waitFor()
    await its.getByRole('button', { name: 'Resume Weekly board' }).click()
    await its.getByText('Sending', { exact: true }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await its.getByRole('button', { name: 'End Weekly board' }).click()
    await page.getByText('No subscription yet').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await its.getByText('Sending', { exact: true }).waitFor()
    await its.getByRole('button', { name: 'End Weekly board' }).click()
    await page.getByText('No subscription yet').waitFor()
  })
})
