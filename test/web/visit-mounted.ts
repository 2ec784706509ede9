import { deepEqual, equal, match, ok } from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'

// Waymark at /analytics of an application, in a browser: with and without the slash, signed in and out by the cookie `user` of that application.

interface Visited {
  /** Of the application. */
  readonly url: string
  /** Of the project that is shown. */
  readonly token: string
}

export async function visitMounted(browser: Browser, visited: Visited): Promise<void> {
  const context = await browser.newContext()
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const complaints: string[] = []
  await visit(page, visited, complaints).catch(async (cause: Error) => {
    const shown = await page.textContent('body').catch(() => 'nothing')
    throw new Error(`${cause.message}\n${page.url()} shows: ${shown}\nits complaints: ${complaints.join('\n')}`, { cause })
  })
  deepEqual(complaints, [])
  await context.close()
}

async function visit(page: Page, { url, token }: Visited, complaints: string[]): Promise<void> {
  const context = page.context()
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
  })
  await page.goto(`${url}/analytics`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  match(page.url(), /\/analytics\/(#.*)?$/)

  await context.addCookies([{ name: 'user', value: 'ada', url }])
  for (const path of ['/analytics', '/analytics/']) {
    await page.goto('about:blank')
    await page.goto(url + path)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  }
  await page.locator('.user-menu summary').click()
  equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0)
  const at = (path: string) => page.url().replace(/(project\/\d+\/).*$/, `$1${path}`)
  await page.goto(at('live'))
  await page.getByRole('heading', { name: 'Waiting for the first event' }).waitFor()
  const snippet = await page.getByRole('region', { name: 'From a web page' }).locator('code').textContent()
  ok(snippet?.includes(`api_host: '${url}/analytics'`), `the snippet is ${snippet}`)
  const sent = await fetch(`${url}/analytics/capture/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: token, event: 'hello', distinct_id: 'me' }),
  })
  equal(sent.status, 200)
  await page.getByRole('button', { name: 'hello' }).waitFor()
  // A change, which goes through what the application does to bodies.
  await page.goto(at('settings/capture'))
  await page.getByLabel('Dead clicks').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  const config = (await (await fetch(`${url}/analytics/array/${token}/config`)).json()) as { captureDeadClicks?: unknown }
  equal(config.captureDeadClicks, true)
  await page.goto(at('settings/account'))
  await page.getByText('shop signs you in and out').waitFor()

  await context.clearCookies()
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
}
