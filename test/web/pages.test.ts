import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, owner, type Web } from './browser.ts'

// What holds of every page: who sees badly can read it, light and dark.

const paths = [
  'live',
  'insights',
  'insights/new?kind=trends',
  'insights/new?kind=retention',
  'dashboards',
  'sql',
  'web',
  'people',
  'cohorts',
  'data',
  'data/properties',
  'data/actions',
  'data/warnings',
  'data/import',
  'data/annotations',
  'pipelines',
  'pipelines/exports',
  'pipelines/exports/new',
  'settings',
  'settings/access',
  'settings/filters',
  'settings/capture',
  'settings/organization',
  'settings/members',
  'settings/invites',
  'settings/roles',
  'settings/domains',
  'settings/proxies',
  'settings/account',
  'settings/keys',
]

describe.skipIf(!hasBrowser)('all pages', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('the first run, by keyboard only', async () => {
    const page = await web.page()
    await page.goto(web.facts.setup_url)
    await page.getByLabel('Your name').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('first_name')
    expect(await accessibilityFindings(page)).toEqual([])
    for (const text of [owner.name, owner.email, owner.password]) {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.type('Shop')
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    web.keep(await page.context().storageState())
    await page.context().close()
  })

  test.each(['light', 'dark'] as const)('%s: no serious finding', async (colorScheme) => {
    const page = await web.signedIn()
    await page.emulateMedia({ colorScheme })
    const found: Record<string, readonly string[]> = {}
    for (const path of paths) {
      await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.waitForLoadState('networkidle')
      const findings = await accessibilityFindings(page)
      if (findings.length > 0) found[path] = findings
    }
    expect(found).toEqual({})
    await page.context().close()
  })
})
