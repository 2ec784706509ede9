import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, owner, type Web } from './browser.ts'
import { pagePaths } from './page-paths.ts'

// What holds of every page: who sees badly can read it, light and dark.

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

  test('every page of the demo project shows something at the first start', async () => {
    const page = await web.signedIn()
    // Data and notices leave the server, and plugins run, only once somebody says so.
    const paths = pagePaths.filter((path) => !/^(settings|pipelines|alerts|people\/by-id)/.test(path))
    const empty: string[] = []
    for (const path of paths) {
      await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
      await page.locator('main').getByRole('heading').first().waitFor()
      await expect.poll(() => page.locator('.working').count()).toBe(0)
      if ((await page.locator('main .empty, main [role=alert]').count()) > 0) empty.push(path)
    }
    expect(empty).toEqual([])
    await page.context().close()
  })

  test.each(['light', 'dark'] as const)('%s: no serious finding', async (colorScheme) => {
    const page = await web.signedIn()
    await page.emulateMedia({ colorScheme })
    const found: Record<string, readonly string[]> = {}
    for (const path of pagePaths) {
      await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
      const main = page.locator('main')
      await main.getByRole('heading').or(main.getByRole('alert')).first().waitFor()
      await page.waitForLoadState('networkidle')
      const findings = await accessibilityFindings(page)
      if (findings.length > 0) found[path] = findings
    }
    expect(found).toEqual({})
    await page.context().close()
  })
})
