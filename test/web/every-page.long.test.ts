import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { program } from '../harness/programs.ts'
import { hasBrowser, openWeb, owner, settled, signOut, type Web } from './browser.ts'
import { pagePaths } from './page-paths.ts'

// What holds of every page, whatever the things on it are named: it is as wide as the window, names are texts, nothing is refused by the content
// security policy, and nothing moves while the page loads.

const markup = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>'
const odd = `${markup} مرحبا ‮txet‬ 👩‍👩‍👧‍👦`
/** As long as every name may be, with no place to break a line. */
const long = odd.padEnd(190, 'w')
/** Of an event. */
const longest = odd.padEnd(10_000, 'w')

describe.skipIf(!hasBrowser)('every page', () => {
  let web: Web
  let paths: readonly string[]
  const waymark = async (...args: string[]) =>
    JSON.parse((await promisify(execFile)(process.execPath, [program('cli'), ...args, '--data', web.dataDir, '--json'])).stdout)
  const base = () => `/api/projects/${web.facts.project_id}/`
  const open = async (page: Page, project: number, path: string) => {
    // Another page first: an address that differs in its parameters only keeps what is shown.
    await page.goto(`${web.facts.url}/#/project/${project}/nothing`)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await page.goto(`${web.facts.url}/#/project/${project}/${path}`)
    await page.locator('main').getByRole('heading').or(page.locator('main').getByRole('alert')).first().waitFor()
    await expect.poll(() => page.locator('.working').count(), { message: `${path} still works` }).toBe(0)
    await settled(page)
  }

  beforeAll(async () => {
    web = await openWeb()
    const made = <T = { id: number }>(path: string, body: object) => web.api<T>('POST', `${base()}${path}`, body)
    const { organization } = await web.api<{ organization: string }>('GET', base())
    await web.api('PATCH', base(), { name: `${odd}${'w'.repeat(80)}` })
    const { api_token } = await web.api<{ api_token: string }>('GET', base())
    const event = (name: string, i: number) => ({
      event: name,
      distinct_id: `${long}${i}`,
      timestamp: new Date(Date.now() - i * 3_600_000).toISOString(),
      properties: {
        [long]: longest,
        $current_url: `https://a.test/${long}`,
        $pathname: `/${long}`,
        $referring_domain: longest,
        $browser: long,
        $session_id: `01890000-0000-7000-8000-00000000000${i}`,
        $geoip_country_code: long,
        $set: { email: long, [long]: { [long]: [long] } },
        $groups: { [odd]: long },
      },
    })
    const batch = ['$pageview', '$pageview', '$screen', long].map(event)
    const sent = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: api_token, batch }),
    })
    expect(sent.ok).toBe(true)
    const stored = () =>
      made<{ results: [[number]] }>('query/', {
        query: { kind: 'HogQLQuery', query: 'select count() from events' },
        refresh: 'force_blocking',
      })
    await vi.waitUntil(async () => (await stored()).results[0][0] === batch.length, { timeout: 60_000 })

    const trend = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: long, custom_name: long }], dateRange: { date_from: '-7d' } }
    const board = await made('dashboards/', { name: long, description: long, pinned: true })
    const insight = await made<{ id: number; short_id: string }>('insights/', {
      name: long,
      query: trend,
      saved: true,
      dashboards: [board.id],
    })
    await made('insights/', { name: long, query: { kind: 'NoQuery', source: long }, saved: true, dashboards: [board.id] }).catch(
      () => undefined,
    )
    const cohort = await made('cohorts/', { name: long, description: long, is_static: true })
    await made('actions/', { name: long, description: long, steps: [{ event: long, url: long }] })
    await made('annotations/', { content: long, scope: 'project', date_marker: new Date().toISOString() })
    await made('warehouse_saved_queries/', { name: 'w'.repeat(100), query: { query: `select '${'w'.repeat(400)}' as ${'w'.repeat(60)}` } })
    const plugin = await web.api<{ id: number }>('POST', `/api/organizations/${organization}/plugins/`, {
      plugin_type: 'source',
      name: long,
      description: long,
    })
    await web.api('PATCH', `/api/organizations/${organization}/plugins/${plugin.id}/update_source/`, {
      'index.ts': 'export const processEvent = (event) => event',
      'plugin.json': JSON.stringify({ name: long, config: [{ key: 'k', name: long, hint: long, type: 'string', default: long }] }),
    })
    const config = await made('plugin_configs/', { plugin: plugin.id, enabled: true, order: 1, config: { k: long } })
    const batchExport = await made<{ id: string }>('batch_exports/', {
      name: long,
      interval: 'hour',
      paused: true,
      destination: { type: 'HTTP', config: { url: 'https://a.test', token: 'x' } },
    }).catch(() => null)
    await web.api('POST', `/api/organizations/${organization}/roles/`, { name: long })
    await web.api('POST', `/api/organizations/${organization}/invites/`, { target_email: `${'w'.repeat(60)}@example.com` })
    await web.api('POST', `/api/organizations/${organization}/domains/`, { domain: `${'w'.repeat(60)}.example.com` })
    const { results: people } = await web.api<{ results: { uuid: string }[] }>('GET', `${base()}persons/?limit=1`)
    paths = [
      ...pagePaths,
      `dashboards/${board.id}`,
      `insights/${insight.short_id}`,
      `insights/${insight.short_id}?edit=1`,
      `people/${people[0]!.uuid}`,
      `people/groups/0/${encodeURIComponent(long)}`,
      `cohorts/${cohort.id}`,
      `pipelines/plugins/${config.id}`,
      ...(batchExport ? [`pipelines/exports/${batchExport.id}`] : []),
    ]
  })
  /** Of addresses that name nobody, which the server answers with 404 and the page says. */
  const isOfNobody = (complaint: string) => /status of 404.*\/(groups\/find|persons)\//.test(complaint)
  afterAll(async () => {
    await web.close()
  })

  test.each([360, 1280])('%i pixels wide: names of any kind are texts, and no page is wider', async (width) => {
    const page = await web.signedIn({ width, height: 740 })
    await page.addInitScript(`
      globalThis.violations = []
      addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI))`)
    const wrong: string[] = []
    for (const path of paths) {
      await open(page, web.facts.project_id, path)
      const seen = await page.evaluate<{ width: number; widest: string; nodes: number; failed: boolean; over: string | null }>(`(() => {
        const inScroller = (one) => { for (let at = one.parentElement; at && at !== document.documentElement; at = at.parentElement) if (getComputedStyle(at).overflowX !== 'visible') return true }
        const wide = [...document.querySelectorAll('main *, nav *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !inScroller(one))
        return {
          width: document.documentElement.scrollWidth,
          widest: wide.slice(0, 3).map((one) => one.tagName + '.' + (one.className.baseVal ?? one.className)).join(' > '),
          nodes: document.querySelectorAll('main img[src=x], main script, nav img[src=x], nav script').length,
          failed: document.querySelector('main').textContent.includes('This page failed'),
          over: [...document.querySelectorAll('main table.rows td')].find((cell) =>
            getComputedStyle(cell).overflowX === 'visible' && cell.scrollWidth > cell.clientWidth + 1)?.textContent.slice(0, 60) ?? null,
        }
      })()`)
      if (seen.width !== width) wrong.push(`${path} is ${seen.width} wide: ${seen.widest}`)
      if (seen.nodes > 0) wrong.push(`${path} has nodes from names`)
      if (seen.failed) wrong.push(`${path} failed`)
      if (seen.over !== null) wrong.push(`${path} has a cell whose text lies over the next one: ${seen.over}`)
    }
    expect(wrong).toEqual([])
    expect(await page.evaluate('[globalThis.hacked ?? null, violations]')).toEqual([null, []])
    expect(web.complaints.filter((one) => !isOfNobody(one))).toEqual([])
    await page.context().close()
  })

  test('the first load of a page is less than 200 kB, and of the server only', async () => {
    for (const path of ['live', 'insights/new?kind=trends', 'dashboards', 'web', 'people']) {
      const page = await web.signedIn()
      await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
      await page.locator('main').getByRole('heading').first().waitFor()
      await page.waitForLoadState('networkidle')
      const loaded = await page.evaluate<{ name: string; transferSize: number }[]>(`
        [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
          .filter(({ name }) => !name.includes('/api/'))
          .map(({ name, transferSize }) => ({ name, transferSize }))`)
      expect(loaded.length, path).toBeGreaterThan(3)
      expect(
        loaded.filter(({ name }) => !name.startsWith(web.facts.url)),
        path,
      ).toEqual([])
      const size = loaded.reduce((sum, { transferSize }) => sum + transferSize, 0)
      expect(size, path).toBeGreaterThan(20_000)
      expect(size, path).toBeLessThan(200_000)
      await page.context().close()
    }
  })

  test('nothing moves while a page loads', async () => {
    const page = await web.signedIn()
    await page.addInitScript(`
      globalThis.shifts = []
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries())
          shifts.push({ value, what: sources.map(({ node }) => node?.parentElement?.className + ' ' + (node?.className?.baseVal ?? node?.className ?? node?.nodeName)).join(', ') })
      }).observe({ type: 'layout-shift', buffered: true })`)
    // No answer before the page was painted without it.
    const painted = () => page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))')
    await page.route(/\/api\//, async (route) => {
      await painted().catch(() => undefined) // the page was left
      await route.continue().catch(() => undefined)
    })
    const moved: string[] = []
    for (const path of pagePaths) {
      await page.goto('about:blank')
      await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
      await page.locator('main').getByRole('heading').or(page.locator('main').getByRole('alert')).first().waitFor()
      await expect.poll(() => page.locator('.working').count(), { message: `${path} still works` }).toBe(0)
      await settled(page)
      await painted()
      const shifts = await page.evaluate<{ value: number; what: string }[]>('shifts')
      const sum = shifts.reduce((total, { value }) => total + value, 0)
      if (sum >= 0.05) moved.push(`${path}: ${sum.toFixed(3)} ${shifts.map(({ value, what }) => `${value.toFixed(3)} ${what}`).join('; ')}`)
    }
    expect(moved).toEqual([])
    expect(web.complaints.filter((one) => !isOfNobody(one))).toEqual([])
    await page.context().close()
  })

  test('the console is empty where nobody is signed in: sign-in, sign-up, invitation, new password', async () => {
    const { organization } = await web.api<{ organization: string }>('GET', base())
    const invite = (email: string) =>
      web.api<{ secret: string }>('POST', `/api/organizations/${organization}/invites/`, { target_email: email })
    const { secret } = await invite('new@example.com')
    const user = await waymark('users', 'create', '--organization', organization, '--email', 'grace@example.com')
    const { url } = await waymark('users', 'link', '--email', user.email ?? 'grace@example.com')
    const pages: readonly [address: string, heading: string | RegExp][] = [
      [`${web.facts.url}/#/`, 'Sign in'],
      [`${web.facts.url}/#/project/${web.facts.project_id}/insights`, 'Sign in'],
      [`${web.facts.url}/#/forgot`, 'New password'],
      [`${web.facts.url}/#/signup/${secret}`, /^Join/],
      [url, 'New password'],
    ]
    for (const [address, heading] of pages) {
      const page = await web.page()
      await page.goto(address)
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      await expect.poll(() => page.locator('.working').count()).toBe(0)
      await page.waitForLoadState('networkidle')
      expect(
        web.complaints.filter((one) => !isOfNobody(one)),
        address,
      ).toEqual([])
      await page.context().close()
    }
    // The way in itself, and out again.
    const page = await web.page()
    await page.goto(`${web.facts.url}/#/`)
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await signOut(page)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(web.complaints.filter((one) => !isOfNobody(one))).toEqual([])
    await page.context().close()
  })

  test('the console is empty on the page of the first owner', async () => {
    const fresh = await openWeb({ hasDemo: false })
    const page = await fresh.page()
    await page.goto(fresh.facts.url)
    await page.getByText('This server is new').waitFor()
    await page.goto(fresh.facts.setup_url)
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()
    await (await fresh.signedIn()).context().close()
    expect(fresh.complaints).toEqual([])
    await fresh.close()
  })
})
