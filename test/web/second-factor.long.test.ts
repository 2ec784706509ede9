import { readFile } from 'node:fs/promises'
import { generateSync } from 'otplib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accessibilityFindings,
  dialogClosed,
  forgetRefusals,
  hasBrowser,
  openWeb,
  owner,
  pagesShown,
  type Web,
  waymarkIn,
} from './browser.ts'

/** The clock of the app is ahead by these steps: a code is accepted once, and one step early is accepted too. */
const codeOf = (secret: string, steps = 0) => generateSync({ secret, epoch: Date.now() / 1000 + 30 * steps })

describe.skipIf(!hasBrowser)('a second factor in a browser', () => {
  let web: Web
  let organization: string
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    await (await web.signedIn()).context().close()
    organization = (await web.api<{ organization: string }>('GET', `/api/projects/${web.facts.project_id}/`)).organization
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const waymark = (...args: string[]) => waymarkIn(web)(...args)
  const looksRight = async (page: Page, what: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await accessibilityFindings(page), `${what}, ${colorScheme}`).toEqual([])
    }
    const { width } = page.viewportSize()!
    expect(await page.evaluate('document.documentElement.scrollWidth'), what).toBe(width)
  }
  /** A member with a password. */
  const member = async (email: string, password: string) => {
    await waymark('users', 'create', '--organization', organization, '--email', email)
    const { url } = await waymark('users', 'link', '--email', email, '--keep-access')
    const page = await web.page()
    await page.goto(url)
    await page.getByLabel('New password').fill(password)
    await page.keyboard.press('Enter')
    return page
  }
  const typePassword = async (page: Page, email: string, password: string) => {
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
  }
  /** From the button to the recovery codes. */
  const setUp = async (page: Page) => {
    await page.getByRole('button', { name: 'Set up an authenticator app' }).press('Enter')
    await page.getByRole('img', { name: 'QR picture for the authenticator app' }).waitFor()
    const secret = ((await page.locator('code.secret').textContent()) ?? '').replaceAll(' ', '')
    await looksRight(page, 'the QR picture')
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('token')
    await page.keyboard.type('123')
    await page.keyboard.press('Enter')
    await page.getByText('This code is not valid.').waitFor()
    await page.getByLabel('Code').fill(codeOf(secret, -1))
    await page.keyboard.press('Enter')
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
    await expect.poll(() => codes.count()).toBe(10)
    await looksRight(page, 'recovery codes')
    return { secret, recovery: await codes.allTextContents() }
  }
  const leave = async (page: Page) => {
    await page.context().clearCookies({ name: 'waymark_session' })
    await page.goto(web.facts.url)
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }

  test('is set up in Settings, asked for at sign-in, and replaced by a recovery code: by keyboard, at 360 pixels', async () => {
    const [email, password] = ['grace@example.com', 'correct battery']
    const page = await member(email, password)
    await pagesShown(page)
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/account`)
    const { secret, recovery } = await setUp(page)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    const saved = await readFile(await (await download).path(), 'utf8')
    for (const code of recovery) expect(saved).toContain(code)
    await page.getByRole('button', { name: 'I have saved them' }).click()
    await page.getByText('10 recovery codes are left.').waitFor()
    await leave(page)

    await typePassword(page, email, password)
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    await looksRight(page, 'the second step')
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('token')
    await page.keyboard.type('000000')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await looksRight(page, 'a wrong code')
    await page.getByLabel('Code').fill(codeOf(secret))
    await page.keyboard.press('Enter')
    await pagesShown(page)
    await leave(page)

    await typePassword(page, email, password)
    await page.getByLabel('Code').fill(recovery[0]!)
    await page.keyboard.press('Enter')
    await pagesShown(page)
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/account`)
    await page.getByText('9 recovery codes are left.').waitFor()
    await page.getByRole('button', { name: 'New recovery codes' }).click()
    await page.getByLabel('Code').fill(recovery[1]!)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'I have saved them' }).click()
    await page.getByText('10 recovery codes are left.').waitFor()
    await page.getByRole('button', { name: 'Turn off…' }).click()
    await page.getByLabel('Code').fill(codeOf(secret, 1))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Set up an authenticator app' }).waitFor()
    await page.context().close()
    forgetRefusals(web)
  })

  test('an organization requires it: an open page leads to setting up, and the owner resets a member', async () => {
    const [email, password] = ['mary@example.com', 'second password']
    const page = await member(email, password)
    await pagesShown(page)
    const boss = await web.signedIn()
    await boss.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/account`)
    await setUp(boss)
    await boss.getByRole('button', { name: 'I have saved them' }).click()
    await boss.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/organization`)
    await boss.getByLabel('Members must have a second factor').check()
    await boss.getByRole('button', { name: 'Save' }).click()
    await boss.getByText('Saved').waitFor()

    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/members`)
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await looksRight(page, 'the page for setting up')
    const { secret } = await setUp(page)
    await page.getByRole('button', { name: 'I have saved them' }).click()
    await pagesShown(page)
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/account`)
    await page.getByText('requires it, so it cannot be turned off.').waitFor()

    await boss.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/members`)
    const row = boss.getByRole('row', { name: email })
    await row.getByText('second factor', { exact: true }).waitFor()
    await row.getByRole('button', { name: 'Reset second factor…' }).click()
    await boss.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    await dialogClosed(boss)
    await expect.poll(() => row.getByText('second factor', { exact: true }).count()).toBe(0)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)

    await page.reload()
    await typePassword(page, email, password)
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().close()
    await boss.context().close()
    forgetRefusals(web)
  })

  test('a link for a new password asks for the code; the operator resets while that login waits', async () => {
    const page = await web.page()
    const { url } = await waymark('users', 'link', '--email', owner.email)
    await page.goto(url)
    await page.getByLabel('New password').fill('another horse')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    expect(await waymark('users', 'reset-2fa', '--email', owner.email)).toMatchObject({ email: owner.email })
    await page.getByLabel('Code').fill('000000')
    await page.keyboard.press('Enter')
    await page.getByText('This login has expired.').waitFor()
    await page.getByRole('button', { name: 'Back to the password' }).click()
    await typePassword(page, owner.email, 'another horse')
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await page.context().close()
    forgetRefusals(web)
  })
})
