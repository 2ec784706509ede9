import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, startNameServer } from '../harness/name-server.ts'
import { accessibilityFindings, hasBrowser, openWeb, owner, type Web } from './browser.ts'

// What administrators decide for others, on a server for many customers: there a domain has to be proven.

describe.skipIf(!hasBrowser)('access, domains and invitations in a browser', () => {
  let web: Web
  let page: Page
  let organization: string
  const names: Record<string, Answer> = {}
  let stopNames: () => void
  beforeAll(async () => {
    const server = await startNameServer(names)
    stopNames = server.stop
    web = await openWeb({ hasDemo: false, args: ['--hosted', '--dns', server.address] })
    page = await web.signedIn()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    organization = (await web.api<{ organization: string }>('GET', `/api/projects/${web.facts.project_id}/`)).organization
  })
  afterAll(async () => {
    await web.close()
    stopNames()
    expect(web.complaints).toEqual([])
  })
  const open = async (path: string, on = page) => {
    await on.goto(`${web.facts.url}/#/project/${web.facts.project_id}/${path}`)
    await on.getByRole('navigation', { name: 'Pages' }).waitFor()
  }
  const dialog = (on = page) => on.getByRole('dialog')
  const both = async (path: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await accessibilityFindings(page), `${path}, ${colorScheme}`).toEqual([])
    }
  }
  const join = async (link: string, name: string) => {
    const joining = await web.page()
    await joining.goto(link)
    await joining.getByLabel('Your name').fill(name)
    await joining.getByLabel('Password').fill('a long password')
    await joining.getByRole('button', { name: 'Join' }).click()
    await joining.getByRole('navigation', { name: 'Pages' }).waitFor()
    return joining
  }
  const linkShown = async () => (await page.locator('.once code').textContent())!

  test('an invitation is sent again and withdrawn: earlier links end', async () => {
    await open('settings/invites')
    await page.getByText('no mail server is configured').waitFor()
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('late@example.com')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    const first = await linkShown()
    const row = page.getByRole('row', { name: /late@example\.com/ })
    await row.getByRole('button', { name: 'New link' }).click()
    await expect.poll(linkShown).not.toBe(first)
    const second = await linkShown()
    await both('settings/invites')
    const late = await web.page()
    await late.goto(first)
    await late.getByRole('alert').waitFor()
    await row.getByRole('button', { name: 'Withdraw…' }).click()
    await dialog().getByRole('button', { name: 'Withdraw' }).click()
    await row.waitFor({ state: 'detached' })
    await late.goto(second)
    await late.reload()
    await late.getByRole('alert').waitFor()
    await late.context().close()
    web.complaints.length = 0 // the refusals
  })

  test('a private project: who has no access is refused, and sees it once it is given', async () => {
    await open('settings/invites')
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('ben@example.com')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    const guest = await join(await linkShown(), 'Ben')
    await open('settings/access')
    await page.getByRole('button', { name: 'Make it private…' }).click()
    await dialog().getByRole('button', { name: 'Make it private' }).click()
    await page.getByText('Private', { exact: true }).waitFor()
    await both('settings/access')
    await guest.reload()
    await guest.getByRole('heading', { name: /No project yet|This project does not exist/ }).waitFor()
    await page.getByRole('combobox', { name: 'Member', exact: true }).selectOption({ label: 'Ben (ben@example.com)' })
    await page.getByRole('button', { name: 'Give access' }).click()
    const row = page.getByRole('row', { name: /ben@example\.com/ })
    await row.waitFor()
    await guest.reload()
    await guest.getByRole('navigation', { name: 'Pages' }).waitFor()
    await row.getByRole('combobox').selectOption({ label: 'Administrator' })
    const path = `/api/projects/${web.facts.project_id}/explicit_members/`
    const levels = async () => (await web.api<{ results: { level: number }[] }>('GET', path)).results.map(({ level }) => level)
    await expect.poll(levels).toEqual([8])
    await open('settings/access', guest)
    await guest.getByText('Only administrators of the organization can change this').waitFor()
    await row.getByRole('button', { name: 'Take away…' }).click()
    await dialog().getByRole('button', { name: 'Take away' }).click()
    await row.waitFor({ state: 'detached' })
    expect(await levels()).toEqual([])
    await page.getByRole('button', { name: 'Open it to all members…' }).click()
    await dialog().getByRole('button', { name: 'Open it' }).click()
    await page.getByText('Open', { exact: true }).waitFor()
    await guest.reload()
    await guest.getByRole('navigation', { name: 'Pages' }).waitFor()
    await guest.context().close()
    web.complaints.length = 0 // the refusals
  })

  test('a domain: refused until its record is there, then verified, and sign-in decided', async () => {
    await open('settings/domains')
    await page.getByRole('textbox', { name: 'Domain' }).fill('shop.example.com')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const row = page.getByRole('row', { name: /shop\.example\.com/ })
    await row.getByText('not verified').waitFor()
    const challenge = (await row.locator('code.secret').textContent())!
    await row.getByRole('button', { name: 'Copy' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(challenge)
    const verify = row.getByRole('button', { name: 'Verify' })
    await verify.click()
    await page
      .getByRole('alert')
      .getByText(/TXT record of shop\.example\.com was not found/)
      .waitFor()
    names['_waymark-challenge.shop.example.com'] = { type: 'TXT', data: ['another text'] }
    await verify.click()
    await expect.poll(() => verify.isEnabled()).toBe(true)
    await row.getByText('not verified').waitFor()
    await both('settings/domains')
    names['_waymark-challenge.shop.example.com'] = { type: 'TXT', data: [challenge] }
    await verify.click()
    await row.getByText('verified', { exact: true }).waitFor()
    // What is required must be set up first.
    await row.getByRole('button', { name: 'SAML…' }).click()
    await dialog().getByLabel('Entity ID of the provider').fill('https://idp.test')
    await dialog().getByLabel('Sign-on URL of the provider').fill('https://idp.test/sso')
    await dialog().getByLabel('Certificate of the provider').fill('MIIB')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'hidden' })
    await row.getByRole('button', { name: 'Sign-in…' }).click()
    await dialog().getByLabel('Only with').selectOption({ label: 'SAML' })
    await dialog()
      .getByLabel(/first time joins/)
      .check()
    await dialog().getByRole('button', { name: 'Save' }).click()
    const domains = () =>
      web.api<{ results: object[] }>('GET', `/api/organizations/${organization}/domains/`).then(({ results }) => results)
    await dialog().waitFor({ state: 'hidden' })
    await row.getByText('SAML only').waitFor()
    expect(await domains()).toMatchObject([{ is_verified: true, sso_enforcement: 'saml', jit_provisioning_enabled: true }])
    await row.getByRole('button', { name: 'Remove…' }).click()
    await dialog().getByRole('button', { name: 'Remove', exact: true }).click()
    await row.waitFor({ state: 'detached' })
    expect(await domains()).toEqual([])
  })

  test('the commands reach every section, by keyboard only', async () => {
    await open('live')
    const to = async (words: string, heading: string) => {
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('combobox', { name: 'Search commands' }).waitFor()
      await page.keyboard.type(words)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
    }
    await to('settings members', 'Members')
    await to('settings account', 'Password')
    await to('pipelines batch', 'Batch exports')
    await to('new batch', 'New batch export')
    await to('properties warnings', 'Events and properties')
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.press('End')
    for (let i = 0; i < 200; i++) await page.keyboard.press('ArrowDown')
    const last = page.getByRole('option', { name: 'Sign out' })
    expect(await last.getAttribute('aria-selected')).toBe('true')
    expect(await last.evaluate((one) => one.getBoundingClientRect().bottom <= one.ownerDocument.documentElement.clientHeight)).toBe(true)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.keyboard.type(owner.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(owner.password)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    web.complaints.splice(0, web.complaints.length, ...web.complaints.filter((one) => !/status of 401/.test(one)))
  })
})
