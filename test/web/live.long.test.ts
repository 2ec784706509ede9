import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

const attack = '<img src=x onerror="document.title=1"> & <script>1</script>'

describe.skipIf(!hasBrowser)('live events in a browser', () => {
  let web: Web
  let at: (path: string) => string
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    at = (path) => `${web.facts.url}/#/project/${web.facts.project_id}/${path}`
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const capture = async (events: readonly object[]) => {
    const sent = await fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: web.facts.project_api_key, batch: events }),
    })
    expect(sent.status).toBe(200)
  }

  test('the command that the page shows sends the first event, and the page turns into the list', async () => {
    const page = await web.signedIn()
    await page.goto(at('live'))
    await page.getByRole('heading', { name: 'Waiting for the first event' }).waitFor()
    const snippets = page.locator('.snippet')
    expect(await snippets.locator('h3').allTextContents()).toEqual([
      'From a terminal',
      'From a web page',
      'From Python',
      'From a server with Node',
    ])
    for (const code of await snippets.locator('code').allTextContents()) {
      expect(code).toContain(web.facts.project_api_key)
      expect(code).toContain(web.facts.url)
    }
    expect(await accessibilityFindings(page)).toEqual([])
    const command = (await page.getByRole('region', { name: 'From a terminal' }).locator('code').textContent())!
    await promisify(execFile)('bash', ['-c', command])
    await page.getByRole('region', { name: 'Events' }).getByRole('button', { name: 'hello' }).waitFor()
    await page.context().close()
  })

  test('what is typed stays while events arrive; filters by event, person and property; pause', async () => {
    await capture([
      { event: 'opened', distinct_id: 'ann', properties: { plan: 'pro' } },
      { event: 'opened', distinct_id: 'ben', properties: { plan: 'free' } },
      { event: attack, distinct_id: 'ann', properties: { plan: 'free', [attack]: attack } },
    ])
    const page = await web.signedIn()
    await page.goto(at('live'))
    const rows = page.getByRole('region', { name: 'Events' }).locator('tbody tr:not(.detail)')
    await expect.poll(() => rows.count()).toBe(4)
    // Typed halfway while events arrive.
    await page.getByLabel('Distinct id').pressSequentially('an')
    await capture([{ event: 'closed', distinct_id: 'cem' }])
    await expect.poll(() => rows.count()).toBe(5)
    expect(await page.getByLabel('Distinct id').inputValue()).toBe('an')
    await page.getByLabel('Distinct id').pressSequentially('n')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows.count()).toBe(2)
    expect(await page.getByLabel('Distinct id').inputValue()).toBe('ann')
    expect(new URL(page.url()).hash).toContain('person=ann')
    // The next one is typed while the answer to the first is on its way.
    await page.getByLabel('Event', { exact: true }).fill('opened')
    await page.keyboard.press('Enter')
    await page.getByLabel('Distinct id').fill('nobody')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await page.getByLabel('Distinct id').inputValue()).toBe('nobody')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No event like this in the last 30 days' }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByLabel('Distinct id').fill('')
    await page.keyboard.press('Enter')
    await page.getByLabel('Event', { exact: true }).fill('')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows.count()).toBe(5)

    await page.getByRole('button', { name: 'Add a filter' }).click()
    await page.getByLabel('Property', { exact: true }).fill('plan')
    await page.keyboard.press('Enter')
    await page.getByLabel('Value', { exact: true }).fill('free')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows.count()).toBe(2)
    // The address holds the filters.
    await page.reload()
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByRole('button', { name: attack }).click()
    expect(await page.locator('dd', { hasText: attack }).count()).toBe(1)
    expect(await accessibilityFindings(page)).toEqual([])

    await page.goto(at('live'))
    await expect.poll(() => rows.count()).toBe(5)
    await page.getByRole('button', { name: 'Pause' }).click()
    await capture([{ event: 'closed', distinct_id: 'dan' }])
    const { results } = await web.api<{ results: unknown[] }>('GET', `/api/projects/${web.facts.project_id}/events/?event=closed`)
    expect(results).toHaveLength(2)
    expect(await rows.count()).toBe(5)
    await page.getByRole('button', { name: 'Resume' }).click()
    await expect.poll(() => rows.count()).toBe(6)
  })
})
