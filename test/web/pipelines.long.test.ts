import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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
    await page.getByText('2 events are delivered again.').waitFor()
    await expect.poll(failed).toBe(0)
    const arrived = async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return log.getByText(/arrived: (first|third)/).count()
    }
    await expect.poll(arrived).toBe(2)
  })

  test('a webhook address is made, copied, replaced and turned off', async () => {
    const id = await install({}, `export function onRequest() { return [{ event: 'hooked', distinct_id: 'ann' }] }`)
    await open(`pipelines/plugins/install/${id}`)
    await page.getByRole('button', { name: 'Use in this project' }).click()
    await page.getByRole('button', { name: 'Make an address' }).click()
    const address = page.locator('code.secret')
    await address.waitFor()
    const first = (await address.textContent())!
    expect(first).toMatch(new RegExp(`^${web.facts.url}/webhooks/[\\w-]{43}$`))
    await page.evaluate('navigator.clipboard.writeText = async (text) => void (document.copied = text)')
    await page.getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('document.copied')).toBe(first)
    const status = async (url: string) => (await fetch(url, { method: 'POST', body: '{}' })).status
    expect(await status(first)).toBe(200)
    expect(await accessibilityFindings(page)).toEqual([])
    const confirm = async (opener: string, button: string) => {
      await page.getByRole('button', { name: opener }).click()
      await page.getByRole('dialog').getByRole('button', { name: button }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await confirm('Replace it…', 'Replace')
    await expect.poll(() => address.textContent()).not.toBe(first)
    const second = (await address.textContent())!
    expect([await status(first), await status(second)]).toEqual([404, 200])
    await confirm('Turn it off…', 'Turn off')
    await page.getByRole('button', { name: 'Make an address' }).waitFor()
    expect(await status(second)).toBe(404)
  })

  test('an export that failed says why, and runs again by a click once its receiver is mended', async () => {
    let isMended = false
    let rows = 0
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const lines = Buffer.concat(chunks).toString().split('\n').filter(Boolean)
      if (isMended && request.headers['x-waymark-kind'] === 'rows') rows += lines.length
      response.writeHead(isMended ? 200 : 400, { 'content-type': 'text/html' }).end(nasty)
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = receiver.address() as AddressInfo
      await open('pipelines/exports/new')
      await page.getByRole('combobox', { name: 'Destination' }).selectOption('HTTP')
      await page.getByLabel('Name').fill(nasty)
      await page.getByLabel('URL').fill(`http://127.0.0.1:${port}/`)
      await page.getByLabel('Token').fill('secret')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('heading', { name: nasty }).waitFor()
      await page.getByRole('button', { name: 'Backfill…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Start' }).click()
      await dialog.waitFor({ state: 'detached' })
      const runs = page.getByRole('region', { name: 'runs', exact: true })
      const after = (text: string) =>
        expect
          .poll(async () => {
            await page.getByRole('button', { name: 'Refresh' }).first().click()
            return runs.getByText(text, { exact: true }).count()
          })
          .toBeGreaterThan(0)
      await after('Failed')
      expect(await runs.locator('.field-error').first().textContent()).toContain('400')
      expect(await page.locator('main img').count()).toBe(0)
      isMended = true
      await runs.getByRole('row').filter({ hasText: 'Failed' }).getByRole('button', { name: 'Retry' }).first().click()
      await after('Completed')
      expect(rows).toBeGreaterThan(0)
    } finally {
      receiver.close()
    }
  })

  test('every destination is configured by the fields of its schema', async () => {
    interface Schema {
      readonly enum?: readonly string[]
    }
    const destinations = await web.api<{ type: string; config_schema: { properties: Record<string, Schema> }; secrets: string[] }[]>(
      'GET',
      `/api/projects/${web.facts.project_id}/batch_exports/destinations/`,
    )
    await open('pipelines/exports/new')
    expect(destinations.length).toBeGreaterThan(5)
    const names: Readonly<Record<string, string>> = { LocalFiles: 'Local files', NoOp: 'Nowhere' }
    for (const { type, config_schema, secrets } of destinations) {
      await page.getByRole('combobox', { name: 'Destination' }).selectOption(type)
      const form = page.getByRole('group', { name: names[type] ?? type, exact: true })
      await form.waitFor()
      for (const name of Object.keys(config_schema.properties)) {
        const field = form.locator(`[name="destination__config__${name}"]`)
        expect(await field.count(), `${type} ${name}`).toBe(1)
        expect(await field.evaluate((one) => (one as unknown as { labels: object[] }).labels.length), `${type} ${name}`).toBe(1)
        if (secrets.includes(name)) expect(await field.inputValue(), `${type} ${name}`).toBe('')
      }
      expect(await accessibilityFindings(page), type).toEqual([])
    }
    await page.goto('about:blank') // what was chosen is not saved
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
