import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('the documentation in a browser', () => {
  let web: Web
  let page: Page
  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  const open = (path: string) => page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)

  test('a document has its headings, tables and links, and no other page loads it', async () => {
    const files: string[] = []
    page.on('request', (request) => files.push(request.url()))
    await open('data/events')
    await page.getByRole('heading', { level: 1, name: 'Events and properties' }).waitFor()
    expect(files.filter((url) => /\/(trends|funnels|docs)-/.test(url))).toEqual([])
    await open('docs/trends')
    await page.getByRole('heading', { name: 'The range and its buckets' }).waitFor()
    await page.getByRole('row', { name: /wStart/ }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('navigation', { name: 'Documents' }).getByRole('link', { name: 'Funnels', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Funnels' }).waitFor()
  })

  test('a search finds parts of documents, and opens them there', async () => {
    await open('docs')
    await page.getByRole('searchbox', { name: 'Search the documentation' }).fill('week project settings edge')
    const hit = page.getByRole('region', { name: 'Results' }).getByRole('link', { name: /^Trends: The range/ })
    await hit.click()
    const heading = page.getByRole('heading', { name: 'The range and its buckets' })
    await heading.waitFor()
    await expect.poll(async () => (await heading.boundingBox())!.y).toBeLessThan(500)
  })

  test('the reference has the routes with fields, scope and an example with this address', async () => {
    await open('docs/api')
    await page.getByRole('heading', { name: 'domains' }).waitFor()
    expect(await page.locator('main').textContent()).not.toContain('`')
    await page.getByRole('searchbox', { name: 'Search the API' }).fill('saves filters')
    const call = page.getByRole('region', { name: 'saved filters' })
    await call.getByText('Saves filters under a name').click()
    await call.getByText('insight:write').waitFor()
    await call.getByText('A list of filters, or a group of them').waitFor()
    const example = await call.locator('pre').textContent()
    expect(example).toContain(`${web.facts.url}/api/projects/${web.demo}/saved_filters/`)
    expect(example).toContain('YOUR_PERSONAL_KEY')
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('Ctrl K finds documents', async () => {
    await open('live')
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('documentation retention')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Retention' }).waitFor()
  })

  test('a description that cannot be read says so, and is read again', async () => {
    await page.route('**/openapi.json', (route) => route.fulfill({ status: 500, body: '{}' }))
    await page.goto('about:blank')
    await open('docs/api')
    await page.getByRole('alert').waitFor()
    await page.unroute('**/openapi.json')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('region', { name: 'saved filters' }).waitFor()
    web.complaints.length = 0 // the refusal
  })
})
