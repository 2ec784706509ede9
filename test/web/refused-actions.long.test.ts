import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openWeb, settled, type Web } from './browser.ts'

// Buttons that act at once have no field for an error: what the API refuses is said in sight, once, to screen readers too, and in the words of the page.

describe.skipIf(!hasBrowser)('a refused action', () => {
  let web: Web
  let page: Page
  let organization: string
  const known = { board: 0, insight: '', cohort: 0, config: 0, person: '', batch: '', alert: '' }
  const base = () => `/api/projects/${web.demo}/`
  const made = <T = { id: number }>(path: string, body: unknown) => web.api<T>('POST', `${base()}${path}`, body)

  const raw = '1 validation error for QueryRequest\nquery.TrendsQuery.series.0.EventsNode.math_property\n  Input should be a valid string'
  const said = 'Series A, property that is counted: Input should be a valid string'
  /** Lists that are hard to bring about. */
  const now = new Date().toISOString()
  const run = {
    records_completed: 0,
    bytes_exported: null,
    latest_error: null,
    data_interval_start: now,
    data_interval_end: now,
    backfill: null,
  }
  const lists: readonly (readonly [path: RegExp, results: readonly object[]])[] = [
    [
      /\/batch_exports\/[\w-]+\/runs\/\?/,
      [
        { id: 'a', status: 'Running', ...run, created_at: now, finished_at: null },
        { id: 'b', status: 'Failed', ...run, created_at: now, finished_at: now },
      ],
    ],
    [
      /\/backfills\/\?/,
      [
        {
          id: 'a',
          start_at: now,
          end_at: now,
          status: 'Running',
          progress: { total_runs: 2, finished_runs: 1, progress: 0.5 },
          created_at: now,
        },
      ],
    ],
    [
      /\/failed_deliveries\/\?/,
      [{ id: 'a', status: 'dead', event: 'purchase', attempts: 3, latest_error: 'x', last_attempt_at: now, next_attempt_at: null }],
    ],
    [/\/proxy_records\/\?/, [{ id: 'a', domain: 'p.example.com', target_cname: 'x', status: 'erroring', message: null, created_at: now }]],
    [
      /\/alerts\/[\w-]+\/deliveries\/\?/,
      [
        {
          id: 'a',
          created_at: now,
          target: 'https://a.example',
          status: 'failed',
          is_test: false,
          error: 'x',
          attempts: 3,
          next_attempt_at: null,
        },
      ],
    ],
    [
      /\/explicit_members\/\?/,
      [
        {
          id: 'a',
          level: 1,
          joined_at: now,
          user: { uuid: '01890000-0000-7000-8000-000000000001', first_name: 'Bob', email: 'bob@example.com' },
        },
      ],
    ],
  ]
  const refuse = (route: Route) => {
    const request = route.request()
    if (request.method() === 'GET') {
      const [, results] = lists.find(([path]) => path.test(request.url())) ?? []
      return results ? route.fulfill({ json: { count: results.length, next: null, previous: null, results } }) : route.continue()
    }
    // Questions are asked by POST.
    if (/\/query\/|\/login\//.test(request.url())) return route.continue()
    return route.fulfill({ status: 400, json: { type: 'validation_error', code: 'invalid_input', detail: raw, attr: null } })
  }
  const open = async (path: string) => {
    await page.context().close()
    page = await web.signedIn()
    await page.route('**/api/**', refuse)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
    await page.locator('main').getByRole('heading').first().waitFor()
    await settled(page)
  }

  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
    organization = (await web.api<{ organization: { id: string } }>('GET', '/api/users/@me/')).organization.id
    const trend = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'purchase' }], dateRange: { date_from: '-7d' } }
    known.board = (await made('dashboards/', { name: 'Board' })).id
    const insight = await made<{ id: number; short_id: string }>('insights/', {
      name: 'Kept',
      saved: true,
      query: trend,
      dashboards: [known.board],
    })
    await made('insights/', { name: 'Other', saved: true, query: trend })
    known.insight = insight.short_id
    const condition = {
      type: 'AND',
      values: [{ type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: ['pro'] }] }],
    }
    known.cohort = (await made('cohorts/', { name: 'Pros', filters: { properties: condition } })).id
    const alert = await made<{ id: string }>('alerts/', {
      insight: insight.id,
      name: 'Loud',
      condition: { type: 'absolute_value' },
      threshold: { configuration: { type: 'absolute', bounds: { upper: 1e9 } } },
    })
    known.alert = alert.id
    await made('annotations/', { content: 'Launch', scope: 'project', date_marker: now })
    await made('actions/', { name: 'Bought', steps: [{ event: 'purchase' }] })
    await made('warehouse_saved_queries/', { name: 'kept_view', query: { kind: 'HogQLQuery', query: 'select 1 as one' } })
    for (const name of ['First plugin', 'Second plugin']) {
      const plugin = await web.api<{ id: number }>('POST', `/api/organizations/${organization}/plugins/`, { plugin_type: 'source', name })
      await web.api('PATCH', `/api/organizations/${organization}/plugins/${plugin.id}/update_source/`, {
        'index.ts': 'export const processEvent = (event) => event; export const onRequest = () => []',
        'plugin.json': JSON.stringify({ name, config: [] }),
      })
      known.config = (await made('plugin_configs/', { plugin: plugin.id, enabled: true })).id
    }
    known.batch = (
      await made<{ id: string }>('batch_exports/', {
        name: 'Nightly',
        interval: 'day',
        destination: { type: 'HTTP', config: { url: 'https://a.test', token: 'x' } },
      })
    ).id
    await web.api('POST', `/api/organizations/${organization}/invites/`, { target_email: 'new@example.com' })
    known.person = (await web.api<{ results: { uuid: string }[] }>('GET', `${base()}persons/?limit=1`)).results[0]!.uuid
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints.filter((one) => !/status of 400/.test(one))).toEqual([])
  })

  const main = () => page.locator('main')
  const dialog = () => page.getByRole('dialog')
  const press = (name: string | RegExp) => async () => main().getByRole('button', { name }).first().click()
  /** Asks first: the answer is in the dialog. */
  const confirm = (name: string | RegExp, submit: string | RegExp) => async () => {
    await press(name)()
    await dialog().getByRole('button', { name: submit }).last().click()
  }
  const inMenu = (menu: string, name: string | RegExp) => async () => {
    await main().locator(`summary[aria-label="${menu}"]`).click()
    await main().locator('.menu-list').getByRole('button', { name }).first().click()
  }

  test.each<[what: string, path: () => string, act: () => Promise<unknown>]>([
    ['a dashboard in the list is pinned', () => 'dashboards', inMenu('More for Board', 'Pin')],
    ['a dashboard in the list is copied', () => 'dashboards', inMenu('More for Board', 'Duplicate')],
    ['a dashboard in the list is deleted', () => 'dashboards', inMenu('More for Board', 'Delete')],
    ['a dashboard is deleted', () => `dashboards/${known.board}`, inMenu('More', 'Delete')],
    ['a dashboard is pinned', () => `dashboards/${known.board}`, inMenu('More', 'Pin')],
    ['a dashboard is copied', () => `dashboards/${known.board}`, inMenu('More', 'Duplicate')],
    [
      'an insight is put on a dashboard',
      () => `dashboards/${known.board}`,
      async () => {
        await press('Add insight')()
        await dialog().getByRole('button', { name: 'Other' }).click()
      },
    ],
    [
      'a public link is made',
      () => `dashboards/${known.board}`,
      async () => {
        await press('Share')()
        await dialog().getByRole('button', { name: 'Create link' }).click()
      },
    ],
    ['an insight is deleted', () => `insights/${known.insight}`, inMenu('More', 'Delete')],
    ['a cohort is deleted', () => `cohorts/${known.cohort}`, press('Delete')],
    ['a person is deleted', () => `people/${known.person}`, confirm(/^Delete/, /^Delete/)],
    ['an action is deleted', () => 'data/actions', press(/^Delete/)],
    ['an annotation is deleted', () => 'data/annotations', press(/^Delete/)],
    ['an alert is switched off', () => 'alerts/all', press('Switch off Loud')],
    ['an alert sleeps', () => 'alerts/all', press('Snooze for a day: Loud')],
    ['an alert is tested', () => 'alerts/all', press('Send a test of Loud')],
    ['an alert is removed', () => 'alerts/all', press('Remove Loud')],
    [
      'a notice is sent again',
      () => 'alerts/all',
      async () => {
        await main().getByText('Deliveries', { exact: true }).first().click()
        await press(/^Send again/)()
      },
    ],
    ['a plugin is switched off', () => 'pipelines/plugins', press('Switch off Second plugin')],
    ['a plugin goes before another one', () => 'pipelines/plugins', press('Second plugin earlier')],
    ['a plugin is installed', () => 'pipelines/plugins', press('Install PII hashing')],
    ['a plugin leaves the project', () => `pipelines/plugins/${known.config}`, confirm('Remove from this project…', 'Remove')],
    ['a webhook address is made', () => `pipelines/plugins/${known.config}`, press('Make an address')],
    ['a failed delivery is tried again', () => `pipelines/plugins/${known.config}`, press('Retry')],
    ['a failed delivery is discarded', () => `pipelines/plugins/${known.config}`, press('Discard')],
    ['all failed deliveries are tried again', () => `pipelines/plugins/${known.config}`, press(/^Retry all/)],
    ['an export pauses', () => `pipelines/exports/${known.batch}`, press('Pause')],
    ['an export is deleted', () => `pipelines/exports/${known.batch}`, confirm(/^Delete/, /^Delete/)],
    ['the settings of an export are tested', () => `pipelines/exports/${known.batch}`, press('Test these settings')],
    ['a run is cancelled', () => `pipelines/exports/${known.batch}`, press('Cancel')],
    ['a run is retried', () => `pipelines/exports/${known.batch}`, press('Retry')],
    [
      'a backfill is cancelled',
      () => `pipelines/exports/${known.batch}`,
      async () =>
        main()
          .locator('section')
          .filter({ has: page.getByRole('heading', { name: 'Backfills' }) })
          .getByRole('button', { name: 'Cancel' })
          .click(),
    ],
    [
      'a saved statement is deleted',
      () => 'sql',
      async () => {
        await page.getByRole('tab', { name: /saved/i }).click()
        await press('Delete kept_view')()
      },
    ],
    ['an invitation is sent again', () => 'settings/invites', press(/Send again|New link/)],
    ['an invitation is withdrawn', () => 'settings/invites', confirm('Withdraw…', 'Withdraw')],
    [
      'the level in a project changes',
      () => 'settings/access',
      async () => main().getByLabel('Level of Bob in this project').selectOption({ index: 1 }),
    ],
    ['a proxy is looked at again', () => 'settings/proxies', press('Look again')],
  ])('%s', async (_, path, act) => {
    await open(path())
    await act()
    const alert = page.getByRole('alert').filter({ hasText: said })
    await alert.waitFor()
    expect(await page.getByRole('alert').count()).toBe(1)
    expect((await alert.textContent())?.trim()).toBe(said)
    const room = async () => {
      const box = (await alert.boundingBox())!
      return [box.y, page.viewportSize()!.height - box.y - box.height].map((free) => free > -1)
    }
    await expect.poll(room).toEqual([true, true]) // it is scrolled into view
  })
})
