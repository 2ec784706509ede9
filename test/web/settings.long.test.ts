import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

const nasty = '<img src=x onerror="document.title=1"> & <script>1</script>'

describe.skipIf(!hasBrowser)('settings, pipelines and invitations in a browser', () => {
  let web: Web
  let page: Page
  let organization: string
  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
    organization = (await web.api<{ organization: string }>('GET', `/api/projects/${web.demo}/`)).organization
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const open = async (path: string, on = page) => {
    await on.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
    await on.getByRole('navigation', { name: 'Pages' }).waitFor()
  }
  const dialog = () => page.getByRole('dialog')

  const pages = [
    ['settings', 'Project key'],
    ['settings/filters', 'Test accounts'],
    ['settings/viewers', 'New viewer key'],
    ['settings/capture', 'What browsers send'],
    ['settings/organization', 'Another organization'],
    ['settings/members', 'Members'],
    ['settings/invites', 'Open invitations'],
    ['settings/domains', 'Add a domain'],
    ['settings/proxies', 'Add a proxy'],
    ['settings/activity', 'Activity log'],
    ['settings/backups', 'Set up backups'],
    ['settings/account', 'Your account'],
    ['settings/keys', 'New key'],
    ['pipelines', 'Offered'],
    ['pipelines/exports', 'Batch exports'],
    ['pipelines/exports/new', 'New batch export'],
  ] as const
  test('every section is accessible, and fits a narrow screen', async () => {
    const narrow = await web.signedIn({ width: 360, height: 740 })
    for (const [path, heading] of pages) {
      await open(path)
      await page.getByRole('heading', { name: heading, exact: true }).waitFor()
      expect(await accessibilityFindings(page), path).toEqual([])
      await open(path, narrow)
      await narrow.getByRole('heading', { name: heading, exact: true }).waitFor()
      expect(await narrow.evaluate('document.documentElement.scrollWidth'), path).toBe(360)
    }
    await narrow.context().close()
  })

  test('settings of a project are what the API has, and a refusal is shown at its field', async () => {
    await open('settings')
    await page.getByLabel('Name', { exact: true }).fill(nasty)
    await page.getByLabel('Time zone').fill('Asia/Tokyo')
    await page.getByLabel('First day of the week').selectOption({ label: 'Monday' })
    await page.getByLabel('Names of people').fill('name\nemail')
    const save = page.locator('form', { has: page.getByLabel('Names of people') }).getByRole('button', { name: 'Save' })
    await save.click()
    await page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
    expect(await web.api('GET', `/api/projects/${web.demo}/`)).toMatchObject({
      name: nasty,
      timezone: 'Asia/Tokyo',
      week_start_day: 1,
      person_display_name_properties: ['name', 'email'],
    })
    await expect.poll(() => page.getByLabel('Project', { exact: true }).locator('option').allTextContents()).toContain(nasty)
    await page.getByLabel('Time zone').fill('Mars/Base')
    await save.click()
    await page.locator('.field', { hasText: 'Time zone' }).getByRole('alert').waitFor()
    web.complaints.length = 0 // the refusal
    // What was typed is not lost without a question: by a link, or by a step back.
    const leaving = page.getByRole('dialog', { name: 'Leave without saving?' })
    await page.getByRole('link', { name: 'Members' }).click()
    await leaving.getByRole('button', { name: 'Stay' }).click()
    expect([await page.getByLabel('Time zone').inputValue(), new URL(page.url()).hash]).toEqual([
      'Mars/Base',
      `#/project/${web.demo}/settings`,
    ])
    await page.getByRole('link', { name: 'Members' }).click()
    await leaving.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Members' }).waitFor()
    await web.api('PATCH', `/api/projects/${web.demo}/`, { name: 'Demo shop', timezone: 'UTC' })
  })

  test('how long events are kept is set, refused at its field, and shown', async () => {
    await open('settings')
    await page.getByText('Events are kept for ever. People without events are kept for ever.').waitFor()
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.getByLabel('Months that events are kept').fill('a year')
    await page.getByRole('button', { name: 'Save and delete what is older' }).click()
    await dialog().getByRole('alert').first().waitFor()
    web.complaints.length = 0 // the refusal
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByLabel('Months that events are kept').fill('240')
    await page.getByLabel('Other times for some events').fill(`${nasty} = 3\nsigned up`)
    await page.getByLabel('Months that people without events are kept').fill('1')
    await page.getByRole('button', { name: 'Save and delete what is older' }).click()
    await page.getByText('Events are kept for 240 months').waitFor()
    await page.getByText('signed up for ever. People without events are kept for 1 month.').waitFor()
    expect(await web.api('GET', `/api/projects/${web.demo}/`)).toMatchObject({
      data_retention: { events_months: 240, event_names: { [nasty]: 3, 'signed up': null }, persons_months: 1 },
    })
  })

  test('heat maps and timing are switched on and off, and the page says that their events are dropped', async () => {
    await open('settings/capture')
    const toggle = page.getByLabel('Heat maps')
    expect(await toggle.isChecked()).toBe(false)
    const field = page.locator('form', { has: toggle })
    await field.getByText('Waymark drops these events and draws no heat map').waitFor()
    await field.getByText('it drops $performance_event').waitFor()
    const isOn = async () => (await web.api<{ heatmaps_opt_in: boolean | null }>('GET', `/api/projects/${web.demo}/`)).heatmaps_opt_in
    for (const wanted of [true, false]) {
      await toggle.setChecked(wanted)
      await field.getByRole('button', { name: 'Save' }).click()
      await expect.poll(isOn).toBe(wanted)
    }
  })

  test('the project key is hidden, shown, and rotated after a question', async () => {
    const { api_token } = await web.api<{ api_token: string }>('GET', `/api/projects/${web.demo}/`)
    await open('settings/filters')
    await open('settings')
    await page.getByRole('heading', { name: 'Project key' }).waitFor()
    expect(await page.getByText(api_token).count()).toBe(0)
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText(api_token).waitFor()
    await page.getByRole('button', { name: 'Rotate…' }).click()
    expect(await accessibilityFindings(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Rotate the key' }).click()
    await dialog().waitFor({ state: 'hidden' })
    const after = await web.api<{ api_token: string }>('GET', `/api/projects/${web.demo}/`)
    expect(after.api_token).not.toBe(api_token)
    await page.getByText(after.api_token).waitFor()
  })

  test('a project is made, and deleted once its name is typed', async () => {
    await open('settings/project')
    await page.getByRole('button', { name: 'New project' }).click()
    await dialog().getByLabel('Name').fill('Second try')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Waiting for the first event' }).waitFor()
    const id = Number(/project\/(\d+)/.exec(page.url())![1])
    await page.goto(`${web.facts.url}/#/project/${id}/settings`)
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog().getByLabel('Type').fill('something else')
    await dialog().getByRole('button', { name: 'Delete the project' }).click()
    await dialog().getByRole('alert').waitFor()
    await dialog().getByLabel('Type').fill('Second try')
    await dialog().getByRole('button', { name: 'Delete the project' }).click()
    await dialog().waitFor({ state: 'hidden' })
    const { results } = await web.api<{ results: { id: number }[] }>('GET', '/api/projects/')
    expect(results.map((one) => one.id)).not.toContain(id)
  })

  test('a personal key has the chosen scopes and limits, is shown once, and works', async () => {
    await open('settings/keys')
    await page.getByLabel('What it is for').fill('Nightly report')
    // A preset, and then less of it.
    await page.getByRole('button', { name: 'Agents (MCP): read', exact: true }).click()
    const level = (of: string, name: string) => page.getByRole('radiogroup', { name: of }).getByRole('radio', { name })
    expect(await level('Insights and saved filters', 'Read').isChecked()).toBe(true)
    expect(await level('Members', 'None').isChecked()).toBe(true)
    await level('Cohorts', 'None').check()
    await level('Annotations', 'Write').check()
    expect(await page.getByRole('button', { name: 'Agents (MCP): read', exact: true }).getAttribute('aria-pressed')).toBe('false')
    await page.getByRole('checkbox', { name: 'Demo shop' }).check()
    await page.getByRole('button', { name: 'Create' }).click()
    const value = (await page.getByRole('status').locator('code').textContent())!
    const ask = (path: string) =>
      fetch(`${web.facts.url}${path}`, { headers: { authorization: `Bearer ${value}` } }).then(({ status }) => status)
    expect(await ask(`/api/projects/${web.demo}/insights/`)).toBe(200)
    expect(await ask(`/api/projects/${web.demo}/cohorts/`)).toBe(403)
    expect(await ask(`/api/projects/${web.facts.project_id}/insights/`)).toBe(403)
    await page.reload()
    const row = page.getByRole('row', { name: /Nightly report/ })
    expect(await row.locator('td[title]').getAttribute('title')).toMatch(/annotation:write/)
    await row.getByText('10 scopes').waitFor()
    expect(await page.getByText(value).count()).toBe(0)
    await row.getByRole('button', { name: 'Delete…' }).click()
    await dialog().getByRole('button', { name: 'Delete', exact: true }).click()
    await row.waitFor({ state: 'detached' })
    expect(await ask(`/api/projects/${web.demo}/insights/`)).toBe(401)
  })

  test('an invitation leads to its page, and who joined is offered what a member may do', async () => {
    await open('settings/invites')
    await page.getByLabel('E-mail address').fill('ben@example.com')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    const link = (await page.getByRole('status').locator('code').textContent())!
    expect(link).toContain('/#/signup/')
    const joining = await web.page()
    await joining.goto(link)
    await joining.getByLabel('Your name').fill(nasty)
    await joining.getByLabel('Password').fill('a long password')
    expect(await accessibilityFindings(joining)).toEqual([])
    await joining.getByRole('button', { name: 'Join' }).click()
    await joining.getByRole('navigation', { name: 'Pages' }).waitFor()

    await open('settings/members', joining)
    await joining.getByText('Only administrators can change levels').waitFor()
    expect(await joining.getByRole('button', { name: /Remove/ }).count()).toBe(0)
    await open('settings', joining)
    await joining.getByText('Only administrators can delete a project').waitFor()
    expect(await joining.getByRole('button', { name: /Rotate|Delete/ }).count()).toBe(0)
    await joining.context().close()

    await open('settings/members')
    const row = page.getByRole('row', { name: /ben@example\.com/ })
    await row.getByText(nasty, { exact: true }).waitFor()
    await row.getByRole('combobox').selectOption({ label: 'Administrator' })
    const level = async () => {
      const { results } = await web.api<{ results: { level: number; user: { email: string } }[] }>(
        'GET',
        `/api/organizations/${organization}/members/`,
      )
      return results.find(({ user }) => user.email === 'ben@example.com')?.level
    }
    await expect.poll(level).toBe(8)
    await row.getByRole('button', { name: 'Remove…' }).click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await row.waitFor({ state: 'detached' })
    expect(await level()).toBeUndefined()

    const late = await web.page()
    await late.goto(link)
    await late.getByRole('alert').waitFor()
    web.complaints.length = 0 // the refusal
    await late.context().close()
  })

  test('a plugin that is offered is installed, configured and switched off; its secret is never shown', async () => {
    await open('pipelines')
    await page.getByRole('button', { name: 'Install PII hashing' }).click()
    await page.getByRole('button', { name: 'Use in this project' }).waitFor()
    await page.getByLabel('Properties to hash').fill('email')
    const secret = page.locator('input[type=password]').first()
    await secret.fill('a very secret salt for hashing')
    await page.getByRole('button', { name: 'Use in this project' }).click()
    await page.getByRole('heading', { name: 'Log' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    expect(await page.locator('input[type=password]').first().inputValue()).toBe('')
    await page.getByRole('button', { name: 'Save' }).click()
    const configs = () =>
      web.api<{ results: { enabled: boolean; config: Record<string, string> }[] }>('GET', `/api/projects/${web.demo}/plugin_configs/`)
    await open('pipelines/plugins')
    await page.getByRole('button', { name: 'Switch off PII hashing' }).click()
    await page.getByRole('button', { name: 'Switch on PII hashing' }).waitFor()
    const { results } = await configs()
    expect(results).toHaveLength(1)
    expect(results[0]!.enabled).toBe(false)
    expect(Object.values(results[0]!.config)).toContain('****************')
    await page.getByRole('button', { name: 'Switch on PII hashing' }).click()
    await page.getByRole('button', { name: 'Switch off PII hashing' }).waitFor()
    expect((await configs()).results[0]!.enabled).toBe(true)
  })

  test('a plugin is written in place, and moved before another', async () => {
    await open('pipelines/plugins')
    await page.getByRole('button', { name: 'Write a plugin' }).click()
    await dialog().getByLabel('Name').fill(nasty)
    await dialog().getByRole('button', { name: 'Create' }).click()
    const source = 'export function processEvent(event) { event.properties.seen = true; return event }\n'
    const code = page.getByRole('textbox', { name: 'index.ts' })
    await code.click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText(source)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Save the source' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Use in this project' }).click()
    await page.getByRole('heading', { name: 'Log' }).waitFor()
    await page.getByRole('heading', { name: nasty }).waitFor()
    await expect.poll(() => code.textContent()).toBe(source.trim())
    // Highlighted: a keyword is a part of its own.
    await code.locator('span', { hasText: /^export$/ }).waitFor()
    await open('pipelines/plugins')
    const earlier = page.getByRole('button', { name: `${nasty} earlier` })
    await earlier.click()
    await expect.poll(() => earlier.isDisabled()).toBe(true)
  })

  test('an export is tested, created, paused, backfilled, and its run has the rows of the project', async () => {
    await open('pipelines/exports/new')
    await page.getByRole('combobox', { name: 'Destination' }).selectOption('NoOp')
    await page.getByRole('group', { name: 'Nowhere' }).waitFor()
    await page.getByLabel('Name').fill('To nowhere')
    await page.getByLabel('Interval').selectOption('week')
    await page.getByRole('button', { name: 'Test these settings' }).click()
    await page.locator('.steps li, [role=status]').first().waitFor()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'To nowhere' }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Continue…' }).click()
    await dialog().getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Backfill…' }).click()
    await dialog().getByRole('button', { name: 'Start' }).click()
    await dialog().waitFor({ state: 'hidden' })
    const { results: exports } = await web.api<{ results: { id: string }[] }>('GET', `/api/projects/${web.demo}/batch_exports/`)
    const path = `/api/projects/${web.demo}/batch_exports/${exports[0]!.id}`
    const backfills = () => web.api<{ results: { status: string }[] }>('GET', `${path}/backfills/`)
    await expect.poll(async () => (await backfills()).results.map(({ status }) => status)).toEqual(['Completed'])
    await page.getByRole('button', { name: 'Refresh' }).first().click()
    const runs = page.getByRole('region', { name: 'runs', exact: true })
    await expect.poll(() => runs.getByText('Completed').count()).toBeGreaterThan(9)
    const shown = (await runs.getByRole('row').locator('td:nth-child(3)').allTextContents()).map((text) => Number(text.replaceAll(',', '')))
    const made = await web.api<{ results: { records_completed: number }[] }>('GET', `${path}/runs/`)
    expect(shown).toEqual(made.results.map((run) => run.records_completed))
    const { results } = await web.api<{ results: number[][] }>('POST', `/api/projects/${web.demo}/query/`, {
      query: { kind: 'SqlLikeQuery', query: 'select count() from events' },
    })
    expect(shown.reduce((sum, rows) => sum + rows, 0)).toBe(results[0]![0])
    expect(await accessibilityFindings(page)).toEqual([])
    await runs.getByRole('button', { name: 'Log' }).first().click()
    await dialog().getByRole('region', { name: 'log lines' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog().getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No batch export yet').waitFor()
  })

  test('an insight has an alert and a subscription', async () => {
    const insight = await web.api<{ id: number; short_id: string }>('POST', `/api/projects/${web.demo}/insights/`, {
      name: 'Purchases',
      saved: true,
      query: { kind: 'InsightVizNode', source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'purchase' }] } },
    })
    await open(`insights/${insight.short_id}`)
    await page.getByRole('button', { name: 'Alerts', exact: true }).click()
    await dialog().getByLabel('Name').fill('Too many')
    await dialog().getByLabel('Alert above').fill('0.5')
    await dialog().getByRole('button', { name: 'Create the alert' }).click()
    await dialog().getByRole('heading', { name: 'Too many' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    const alerts = await web.api<{ results: { threshold: object; subscribed_users: { email: string }[] }[] }>(
      'GET',
      `/api/projects/${web.demo}/alerts/?insight_id=${insight.id}`,
    )
    expect(alerts.results).toMatchObject([
      {
        threshold: { configuration: { type: 'absolute', bounds: { lower: null, upper: 0.5 } } },
        // This server has no mail server: nobody can be told by mail.
        subscribed_users: [],
      },
    ])
    await dialog().getByRole('tab', { name: 'Subscriptions' }).click()
    await dialog().getByLabel('Title').fill('Monday numbers')
    await dialog().getByLabel('Send by').selectOption('webhook')
    await dialog().getByLabel('Address of the webhook').fill('https://hooks.example.com/numbers')
    await dialog().getByLabel('First time').fill('2030-01-07T09:00')
    await dialog().getByRole('button', { name: 'Create the subscription' }).click()
    await dialog().getByRole('heading', { name: 'Monday numbers' }).waitFor()
    await dialog()
      .getByText(/^whsec_/)
      .waitFor()
    const subscriptions = await web.api<{ results: object[] }>('GET', `/api/projects/${web.demo}/subscriptions/?insight=${insight.id}`)
    // Nine o'clock in the zone of the project, UTC; the browser of the tests is in Berlin.
    expect(subscriptions.results).toMatchObject([{ target_type: 'webhook', frequency: 'weekly', start_date: '2030-01-07T09:00:00Z' }])
  })

  test('by keyboard only: to the settings, a section, a field, and saved', async () => {
    await open('live')
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press(',')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Account' }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('First name').waitFor()
    await page.getByLabel('First name').focus()
    await page.keyboard.press('End')
    await page.keyboard.type(' Augusta')
    await page.keyboard.press('Enter')
    await page.getByText('Saved', { exact: true }).waitFor()
    expect(await web.api('GET', '/api/users/@me/')).toMatchObject({ first_name: 'Ada Augusta' })
  })
})
