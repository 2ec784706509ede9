import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openWeb, type Web } from './browser.ts'
import { pagePaths } from './page-paths.ts'

// Every page where there is nothing to show, and where the server does not answer: none waits forever, and each says what to do.

/** They show nothing of the server but the session, or only suggestions. */
const withoutLists: readonly string[] = ['cohorts/new', 'flags/new']
/** Read from the files of the pages. */
const ofTheBuild: readonly string[] = ['docs', 'docs/api']
/** Nothing is read before somebody asks. */
const answersOnDemand: readonly string[] = ['sql']

/** Viewers are told who sees them. */
const forMembers: Readonly<Record<string, string>> = { 'settings/slow': 'Only members can see them.' }

describe.skipIf(!hasBrowser)('pages without an answer', () => {
  let web: Web
  let page: Page
  const errors: string[] = []
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    page = await web.signedIn()
    page.on('pageerror', (error) => errors.push(String(error)))
    await page.goto(web.facts.url)
    await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor()
  })
  afterAll(async () => {
    await web.close()
  })
  /** Opens a page and waits until nothing on it is at work. */
  const open = async (path: string) => {
    // Another page first: an address that differs in its parameters only keeps what is shown.
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/nothing`)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/${path}`)
    await page.locator('main').getByRole('heading').or(page.locator('main').getByRole('alert')).first().waitFor()
    await expect.poll(() => page.locator('.working').count(), { message: `${path} still works` }).toBe(0)
  }

  test('a new project: every page says what there would be, or what to do', async () => {
    for (const path of pagePaths) {
      await open(path)
      // A person who does not exist, and a type of groups: the page says so.
      expect(await page.locator('main').getByRole('alert').count(), path).toBe(0)
      for (const empty of await page.locator('.empty').all()) expect(await empty.locator('p').count(), path).toBeGreaterThan(0)
    }
    expect(errors).toEqual([])
  })

  const failures = [
    [
      'a server that fails',
      { status: 500, body: { type: 'server_error', code: 'error', detail: 'Something went wrong.' } },
      'Something went wrong. (status 500)',
    ],
    [
      'no permission',
      { status: 403, body: { type: 'authentication_error', code: 'permission_denied', detail: 'You may not see this.' } },
      'You may not see this.',
    ],
    ['a proxy without a server', { status: 502, body: '<html>Bad gateway</html>' }, 'The server answered with status 502.'],
    ['no network', null, 'The server cannot be reached.'],
  ] as const
  test.each(failures)('%s: every page says so and can be tried again', async (_, answer, text) => {
    const isOfPage = (url: URL) => /\/api\//.test(url.pathname) && !/\/api\/(users\/@me|projects|organizations)\/$/.test(url.pathname)
    await page.route(isOfPage, (route) =>
      answer === null
        ? route.abort('connectionrefused')
        : route.fulfill({ status: answer.status, body: typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body) }),
    )
    for (const path of pagePaths) {
      await open(path)
      if ([...withoutLists, ...ofTheBuild, ...answersOnDemand].includes(path)) continue
      if (answer?.status === 403 && path in forMembers) {
        await page.locator('main').getByText(forMembers[path]!).waitFor()
        continue
      }
      const alert = page.locator('main').getByRole('alert').filter({ hasText: text }).first()
      await alert.waitFor({ timeout: 10_000 }).catch(() => {
        throw new Error(`${path} does not say: ${text}`)
      })
      expect(await page.locator('main').getByRole('button', { name: 'Try again' }).count(), `${path}: try again`).toBeGreaterThan(0)
    }
    await page.unroute(isOfPage)
    // Once it answers again, the page is there without a reload.
    await open('people')
    await page.getByRole('heading', { name: 'Nobody yet' }).waitFor()
    expect(errors).toEqual([])
  })

  test('a project without events says so, until the first one: at once, and not where the server fails', async () => {
    const hint = page.getByText('No event has arrived yet.')
    for (const path of ['insights/new?kind=funnel', 'web']) {
      await open(path)
      await hint.waitFor()
    }
    const isOfEvents = (url: URL) => /\/event_definitions\//.test(url.pathname)
    await page.route(isOfEvents, (route) => route.fulfill({ status: 500, body: '{}' }))
    await open('insights/new?kind=trends')
    await page.locator('.answer[aria-busy=false] .result').waitFor()
    expect(await hint.count(), 'nobody knows whether there are events').toBe(0)
    await page.unroute(isOfEvents)
    await open('insights/new?kind=trends')
    await hint.waitFor()
    const sent = await fetch(`${web.facts.url}/capture/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: web.facts.project_api_key, event: 'hello', distinct_id: 'me' }),
    })
    expect(sent.status).toBe(200)
    await open('live')
    await page.getByRole('button', { name: 'hello' }).waitFor()
    for (const path of ['insights/new?kind=funnel', 'web']) {
      await open(path)
      await page.locator('main').getByRole('region').first().waitFor()
      expect(await hint.count(), path).toBe(0)
    }
  })
})
