import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ViewerKeyAnswer } from '../../src/doors/answers/sharing.ts'
import { accessibilityFindings, forgetRefusals, hasBrowser, openWeb, pagesShown, type Web, waymarkIn } from './browser.ts'

// Settings → Viewer keys: what the page shows signs tokens, and what it ends opens nothing.

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const signed = (jti: string, { id, secret }: { id: string; secret: string }) => {
  const filter = [{ type: 'event', key: 'customer', operator: 'exact', value: 'acme' }]
  const payload = { jti, exp: Math.floor(Date.now() / 1000) + 600, filter, kinds: ['SqlLikeQuery'] }
  const text = `${encoded({ alg: 'HS256', kid: id })}.${encoded(payload)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

describe.skipIf(!hasBrowser)('the page of viewer keys', () => {
  let web: Web
  let page: Page
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const path = () => `${web.facts.url}/#/project/${web.facts.project_id}/settings/viewers`
  const statusOf = (token: string) =>
    fetch(`${web.facts.url}/api/viewer/`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status)

  test('a key is made, shows its secret once and signs; one token ends, then all of them', async () => {
    await page.goto(path())
    await page.getByText('No key yet.').waitFor()
    await page.getByLabel('Application').fill('Shop <b>')
    await page.getByRole('button', { name: 'Create' }).click()
    const codes = page.locator('.once code')
    await codes.first().waitFor()
    const [id, secret] = (await codes.allTextContents()) as [string, string]
    expect(await accessibilityFindings(page)).toEqual([])
    const row = page.getByRole('row', { name: /Shop <b>/ })
    await row.getByText(id).waitFor()

    const [first, second, third] = ['first', 'second', 'third'].map((jti) => signed(jti, { id, secret })) as [string, string, string]
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual([200, 200, 200])
    for (const given of ['first', second]) {
      await page.getByLabel('The token, or its id').fill(given)
      await page.getByRole('button', { name: 'End it' }).click()
      await page.getByRole('status').getByText('It has ended').waitFor()
    }
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual([401, 401, 200])

    await page.reload()
    await row.waitFor()
    expect(await page.getByText(secret).count()).toBe(0)
    await row.getByRole('button', { name: 'Remove…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No key yet.').waitFor()
    expect(await statusOf(third)).toBe(401)
    expect(await web.api('GET', `/api/projects/${web.facts.project_id}/viewer_keys/`)).toEqual([])
  })

  test('members of the level viewer see the keys, and change nothing', async () => {
    const base = `/api/projects/${web.facts.project_id}/`
    await web.api<ViewerKeyAnswer>('POST', `${base}viewer_keys/`, { name: 'Kept' })
    const { organization } = await web.api<{ organization: string }>('GET', base)
    await waymarkIn(web)('users', 'create', '--organization', organization, '--email', 'vi@example.com', '--level', 'viewer')
    const { url } = await waymarkIn(web)('users', 'link', '--email', 'vi@example.com', '--keep-access')
    const looking = await web.page({ width: 360, height: 740 })
    await looking.goto(url)
    await looking.getByLabel('New password').fill('looks and asks')
    await looking.keyboard.press('Enter')
    await pagesShown(looking)
    await looking.goto(path())
    await looking.getByRole('row', { name: /Kept/ }).waitFor()
    await looking.getByText('Only members can make and remove keys.').waitFor()
    expect(await looking.locator('main').getByRole('button').count()).toBe(0)
    expect(await looking.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await looking.context().close()
    forgetRefusals(web)
  })
})
