import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, dialogClosed, hasBrowser, openWeb, type Web, waymarkIn } from './browser.ts'

// An administrator makes the token of a domain, the identity provider pushes a user and a group, and the administrator opens a private project to the role: by keyboard, at 360 pixels.

describe.skipIf(!hasBrowser)('provisioning in a browser', () => {
  let web: Web
  let page: Page
  let organization: string
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    page = await web.signedIn({ width: 360, height: 740 })
    organization = (await web.api<{ organization: string }>('GET', `/api/projects/${web.facts.project_id}/`)).organization
    await waymarkIn(web)('domains', 'verify', 'example.com', '--organization', organization)
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const open = async (path: string) => {
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/${path}`)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  }
  const looksRight = async (what: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await accessibilityFindings(page), `${what}, ${colorScheme}`).toEqual([])
    }
    expect(await page.evaluate('document.documentElement.scrollWidth'), what).toBe(360)
  }
  const scim = async (token: string, method: string, path: string, body?: object) => {
    const response = await fetch(`${web.facts.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: response.status === 204 ? null : ((await response.json()) as { id: string }) }
  }

  test('a token is made, shown once, replaced and revoked; its group is a role that opens a project', async () => {
    await open('settings/domains')
    await page.getByRole('button', { name: 'Provisioning…' }).press('Enter')
    const dialog = page.getByRole('dialog').first()
    await dialog.getByText(`${web.facts.url}/scim/v2`, { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Make a token' }).press('Enter')
    await dialog.getByText('it is shown only once').waitFor()
    const first = (await dialog.locator('.once code').textContent())!
    expect(first).toMatch(/^scim_/)
    await looksRight('a token')
    await dialog.getByRole('button', { name: 'Replace the token' }).press('Enter')
    await expect.poll(() => dialog.locator('.once code').textContent()).not.toBe(first)
    const token = (await dialog.locator('.once code').textContent())!
    expect((await scim(first, 'GET', '/Users')).status).toBe(401)
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    await page.getByText('provisioned').waitFor()
    await page.getByRole('button', { name: 'Provisioning…' }).press('Enter')
    await dialog.getByText('It has not been used yet.').waitFor()
    expect(await dialog.getByText(token).count(), 'shown once').toBe(0)
    await page.keyboard.press('Escape')
    await dialogClosed(page)

    const user = await scim(token, 'POST', '/Users', { userName: 'grace@example.com', name: { givenName: 'Grace', familyName: 'Hopper' } })
    expect(user.status).toBe(201)
    const group = await scim(token, 'POST', '/Groups', { displayName: 'Compilers', members: [{ value: user.body!.id }] })
    expect(group.status).toBe(201)
    await open('settings/roles')
    const row = page.getByRole('row', { name: /Compilers/ })
    await row.getByText('from example.com').waitFor()
    await row.getByText('Grace Hopper').first().waitFor()
    await looksRight('the roles')
    await page.getByRole('textbox', { name: 'Name' }).fill('By hand')
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'Give By hand to' }).selectOption('Grace Hopper')
    await page.getByRole('button', { name: 'Take By hand from Grace Hopper' }).press('Enter')
    await page.getByRole('button', { name: 'Take By hand from Grace Hopper' }).waitFor({ state: 'detached' })

    await open('settings/activity')
    await page.getByText('Identity provider of example.com').first().waitFor()
    await looksRight('the activity log')

    await open('settings/access')
    await page.getByText('No role.').waitFor()
    await page.getByLabel('Role', { exact: true }).selectOption('Compilers')
    await page.getByRole('button', { name: 'Give the role access' }).press('Enter')
    await page.getByRole('combobox', { name: 'Level of the role Compilers in this project' }).selectOption('Administrator')
    const access = () =>
      web.api<{ results: { name: string; level: number }[] }>('GET', `/api/projects/${web.facts.project_id}/role_access/`)
    await expect.poll(async () => (await access()).results).toMatchObject([{ name: 'Compilers', level: 8 }])
    await looksRight('the access')
    await page
      .getByRole('row', { name: /Compilers/ })
      .getByRole('button', { name: 'Take away…' })
      .press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Take away' }).press('Enter')
    await dialogClosed(page)
    await expect.poll(async () => (await access()).results).toEqual([])

    await open('settings/domains')
    await page.getByRole('button', { name: 'Provisioning…' }).press('Enter')
    await dialog.getByRole('button', { name: 'Revoke the token…' }).press('Enter')
    await page.getByRole('button', { name: 'Revoke', exact: true }).press('Enter')
    await dialog.getByRole('button', { name: 'Make a token' }).waitFor()
    expect((await scim(token, 'GET', '/Users')).status).toBe(401)
    await page.keyboard.press('Escape')
    await dialogClosed(page)
  })
})
