import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BackupStateAnswer } from '../../src/doors/answers/backups.ts'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

// Settings → Backups, of a server that makes them.

describe.skipIf(!hasBrowser)('the page of backups', () => {
  let web: Web
  let page: Page
  let folder: string
  let place: string
  let path: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'waymark-web-backups-'))
    place = join(folder, 'copies')
    web = await openWeb({ hasDemo: false, args: ['--backup', place] })
    page = await web.signedIn()
    const { organization } = await web.api<{ organization: string }>('GET', `/api/projects/${web.facts.project_id}/`)
    path = `/api/organizations/${organization}/backups/`
  })
  afterAll(async () => {
    await web.close()
    await rm(folder, { recursive: true, force: true })
    expect(web.complaints).toEqual([])
  })
  const state = async () => (await web.api<BackupStateAnswer>('GET', path)).backups!
  const open = async (on = page) => {
    await on.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/members`)
    await on.getByRole('heading', { name: 'Members', exact: true }).waitFor()
    await on.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/backups`)
    await on.getByRole('heading', { name: 'Backups', exact: true }).waitFor()
  }
  const fact = (name: string) => page.getByRole('row', { name }).getByRole('cell').textContent()
  /** Instead of the server's. */
  const answering = async (change: Partial<NonNullable<BackupStateAnswer['backups']>>) => {
    const backups = { ...(await state()), ...change }
    await page.route(`**${path}`, (route) => route.fulfill({ json: { backups } }))
  }

  test('says what there is, and has the commands to bring it back', async () => {
    await expect.poll(async () => (await state()).verified_at).not.toBeNull()
    await open()
    expect(await fact('Last copy')).toMatch(/ago|just now/)
    expect(await fact('Last verified copy')).toMatch(/ago|just now/)
    expect(await fact('Can be brought back')).toMatch(/^The moment of the only copy/)
    expect(await fact('Where to')).toBe(place)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByText(`waymark restore ${place} --data ./restored`, { exact: true }).waitFor()
    expect(await page.getByText('--at').count()).toBe(0)
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('another copy is shown after Refresh, and with it a range of moments', async () => {
    await open()
    await page.getByText('The moment of the only copy').waitFor()
    const { copied_at } = await state()
    const later = new Date(Date.parse(copied_at!) + 3_600_000).toISOString()
    await answering({ copies: 2, copied_at: later })
    await page.getByRole('button', { name: 'Refresh' }).click()
    await expect.poll(() => fact('Can be brought back')).toMatch(/^Every moment from .* to /)
    await page.getByText(`--at ${later}`).waitFor()
    await page.unroute(`**${path}`)
  })

  const failures = [
    [
      { latest_error: 'ENOSPC: no space left on device', failures: 1 },
      /^The latest copy failed: ENOSPC.* What changed since the last copy is in no backup\.$/,
    ],
    [{ latest_error: 'Access denied.', failures: 3 }, /^The latest 3 attempts at a copy failed: Access denied\./],
    [
      { latest_error: 'Access denied.', failures: 2, copied_at: null, reaches_back_to: null, verified_at: null, copies: null, bytes: null },
      /There is no backup yet\.$/,
    ],
    [
      { verify_error: 'The events of project 1 differ.' },
      /^The latest verification failed: The events of project 1 differ\. Do not rely on copies that are newer/,
    ],
    [{ verify_error: 'No space.', verified_at: null }, /Do not rely on these copies before one is verified\.$/],
  ] as const
  test.each(failures)('%o', async (change, text) => {
    await answering(change)
    await open()
    expect(await page.locator('main').getByRole('alert').textContent()).toMatch(text)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.unroute(`**${path}`)
  })

  test('while it loads it says so, an error can be tried again, and on a hosted server there is nothing to see', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`**${path}`, async (route) => {
      await held
      await route.fulfill({ status: 500, json: { type: 'server_error', code: 'error', detail: 'Something went wrong.', attr: null } })
    })
    await open()
    await page.getByRole('progressbar', { name: 'Reading the state of the backups' }).waitFor()
    release()
    await page.locator('main').getByRole('alert').getByText('Something went wrong.').waitFor()
    await page.unroute(`**${path}`)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('row', { name: 'Where to' }).waitFor()
    await page.route(`**${path}`, (route) =>
      route.fulfill({ status: 404, json: { type: 'invalid_request', code: 'not_found', detail: 'Not found.', attr: null } }),
    )
    await open()
    await page.getByText('The operator of this server makes its backups.').waitFor()
    expect(await page.locator('main').getByRole('alert').count()).toBe(0)
    await page.unroute(`**${path}`)
    web.complaints.length = 0 // the refusals
  })

  test('fits a narrow screen, also with a long place', async () => {
    const narrow = await web.signedIn({ width: 360, height: 740 })
    await narrow.route(`**${path}`, async (route) =>
      route.fulfill({ json: { backups: { ...(await state()), to: `s3://${'a-long-bucket-'.repeat(4)}/${'prefix/'.repeat(12)}` } } }),
    )
    await open(narrow)
    await narrow.getByRole('row', { name: 'Where to' }).waitFor()
    expect(await narrow.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await narrow.context().close()
  })
})
