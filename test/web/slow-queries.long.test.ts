import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, owner, type Web } from './browser.ts'

// Settings → Slow queries, of a server on which every query is slow.

describe.skipIf(!hasBrowser)('the page of slow queries', () => {
  let web: Web
  let page: Page
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false, args: ['--slow-query', '1ms'] })
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('shows what took how long, and its plan', async () => {
    const query = { kind: 'HogQLQuery', query: "select event, count() from events where event = 'private words' group by event" }
    await web.api('POST', `/api/projects/${web.facts.project_id}/query/`, { query })
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/slow`)
    const row = page.getByRole('row', { name: 'HogQLQuery' }).first()
    await row.waitFor()
    await expect.poll(() => row.getByRole('cell').nth(2).textContent()).toBe(owner.name)
    expect(await accessibilityFindings(page)).toEqual([])
    await row.getByRole('button', { name: 'Details' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Query').textContent()).toContain('private words')
    await dialog.getByRole('button', { name: 'Explain' }).click()
    await dialog.getByLabel('Plan').waitFor()
    expect(await dialog.getByLabel('Plan').textContent()).toMatch(/select/i)
    expect(await accessibilityFindings(page)).toEqual([])
  })
})
