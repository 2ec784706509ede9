import { text } from 'node:stream/consumers'
import { generateSync } from 'otplib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, pagesShown, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('the activity log of an organization in a browser', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    await (await web.signedIn()).context().close()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('says who did what and from where, goes on page by page, and is a file: by keyboard, at 360 pixels', async () => {
    const { organization } = await web.api<{ organization: string }>('GET', `/api/projects/${web.facts.project_id}/`)
    const at = `/api/organizations/${organization}/`
    for (let i = 0; i < 60; i++) await web.api('POST', `${at}roles/`, { name: `<b>Role ${i}</b>` })
    await web.api('PATCH', at, { name: 'Renamed' })
    const page = await web.signedIn({ width: 360, height: 740 })
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/account`)
    await pagesShown(page)
    await page.getByRole('button', { name: 'Set up an authenticator app' }).press('Enter')
    const secret = ((await page.locator('code.secret').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code').fill(generateSync({ secret }))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'I have saved them' }).click()

    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/activity`)
    const rows = page.getByRole('region', { name: 'entries' }).locator('tbody').getByRole('row')
    await expect.poll(() => rows.count()).toBe(50)
    const cells = (row: number) => rows.nth(row).getByRole('cell').allTextContents()
    expect((await cells(0)).slice(1)).toEqual([
      'Ada',
      'second factor enabled user ada@example.comis_2fa_enabled: false → true',
      '127.0.0.1Chrome on Linux',
    ])
    expect((await cells(1)).slice(1)).toEqual(['Ada', 'updated organization Defaultname: Default → Renamed', ''])
    expect((await cells(2))[2]).toBe('created role <b>Role 59</b>')
    await page.getByRole('button', { name: 'Load more' }).press('Enter')
    const total = (await web.api<{ total_count: number }>('GET', `${at}activity/`)).total_count
    await expect.poll(() => rows.count()).toBe(total)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await accessibilityFindings(page), colorScheme).toEqual([])
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)

    const started = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download the whole log' }).press('Enter')
    const lines = (await text(await (await started).createReadStream())).trimEnd().split('\n')
    expect(lines).toHaveLength(total)
    expect(JSON.parse(lines[0]!)).toMatchObject({ activity: 'second_factor_enabled', detail: { from: { address: '127.0.0.1' } } })
    await page.context().close()
  })
})
