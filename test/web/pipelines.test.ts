import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

const nasty = '<img src=x onerror="document.title=1">'

describe.skipIf(!hasBrowser)('plugins in a browser', () => {
  let web: Web
  let page: Page
  let organization: string
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    page = await web.signedIn()
    organization = (await web.api<{ organization: string }>('GET', `/api/projects/${web.facts.project_id}/`)).organization
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const open = async (path: string) => {
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/${path}`)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  }
  /** A plugin with this source; what it is called and says is HTML. */
  const install = async (manifest: object, source: string): Promise<number> => {
    const plugins = `/api/organizations/${organization}/plugins/`
    const { id } = await web.api<{ id: number }>('POST', plugins, { plugin_type: 'source', name: nasty, description: nasty })
    await web.api('PATCH', `${plugins}${id}/update_source/`, {
      'plugin.json': JSON.stringify({ name: nasty, description: nasty, ...manifest }),
      'index.ts': source,
    })
    return id
  }
  const send = (event: string) =>
    fetch(`${web.facts.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: web.facts.project_api_key, batch: [{ event, distinct_id: 'u' }] }),
    })

  test('deliveries that failed are shown with their error, and delivered again once the source is mended', async () => {
    const broken = `export function onEvent(event) { console.log(${JSON.stringify(nasty)}); throw new Error(${JSON.stringify(nasty)}) }`
    const id = await install({}, broken)
    await open(`pipelines/plugins/install/${id}`)
    await page.getByRole('heading', { name: nasty }).waitFor()
    await page.getByRole('button', { name: 'Use in this project' }).click()
    await page.getByRole('heading', { name: 'Failed deliveries' }).waitFor()
    const config = Number(/plugins\/(\d+)$/.exec(page.url())![1])
    for (const event of ['first', 'second', 'third']) await send(event)
    const failed = async () =>
      (
        await web.api<{ results: { event: string }[] }>(
          'GET',
          `/api/projects/${web.facts.project_id}/plugin_configs/${config}/failed_deliveries/`,
        )
      ).results.length
    await expect.poll(failed).toBe(3)
    await page.reload()
    const list = page.getByRole('region', { name: 'failed deliveries' })
    await list.getByText(nasty).first().waitFor()
    const log = page.getByRole('region', { name: 'log lines' })
    const logged = async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return log.getByText(nasty).count()
    }
    await expect.poll(logged).toBeGreaterThan(0)
    expect(await accessibilityFindings(page)).toEqual([])
    expect(await page.title(), 'HTML in texts of plugins is text').not.toBe('1')

    await list
      .getByRole('row', { name: /second/ })
      .getByRole('button', { name: 'Discard' })
      .click()
    await expect.poll(failed).toBe(2)
    const code = page.getByRole('textbox', { name: 'index.ts' })
    await code.click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText('export function onEvent(event) { console.log(`arrived: ${event.event}`) }')
    await page.getByRole('button', { name: 'Save the source' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Retry all that gave up' }).click()
    await page.getByText('2 are delivered again.').waitFor()
    await expect.poll(failed).toBe(0)
    const arrived = async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return log.getByText(/arrived: (first|third)/).count()
    }
    await expect.poll(arrived).toBe(2)
  })

  test('a file among the settings is stored, kept, and removed; a secret is kept when its field is left empty', async () => {
    const config = [
      { key: 'table', name: 'Table', type: 'attachment', required: false },
      { key: 'password', name: 'Password', type: 'string', secret: true, required: true },
    ]
    const id = await install({ config }, 'export function processEvent(event) { return event }')
    await open(`pipelines/plugins/install/${id}`)
    await page.getByLabel('Table').setInputFiles({ name: 'countries.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') })
    await page.getByLabel('Password', { exact: true }).fill('hidden from everyone')
    await page.getByRole('button', { name: 'Use in this project' }).click()
    await page.getByText('Stored: countries.csv, 8 bytes').waitFor()
    const path = `/api/projects/${web.facts.project_id}/plugin_configs/${/plugins\/(\d+)$/.exec(page.url())![1]}/`
    const stored = async () => (await web.api<{ config: Record<string, unknown> }>('GET', path)).config
    expect(await stored()).toMatchObject({ table: { name: 'countries.csv' }, password: expect.stringMatching(/^\*+$/) })
    expect(await page.content()).not.toContain('hidden from everyone')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Stored: countries.csv').waitFor()
    expect(await stored()).toMatchObject({ table: { name: 'countries.csv' }, password: expect.stringMatching(/^\*+$/) })
    await page.getByLabel('Remove it').check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Stored: countries.csv').waitFor({ state: 'detached' })
    await expect.poll(async () => (await stored()).table ?? null).toBeNull()
    expect(await accessibilityFindings(page)).toEqual([])
  })
})
