import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SmtpServer, startSmtp } from '../harness/smtp-server.ts'
import { accessibilityFindings, forgetRefusals, hasBrowser, openWeb, owner, pagesShown, type Web, waymarkIn } from './browser.ts'

describe.skipIf(!hasBrowser)('passwords and sessions in a browser', () => {
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
  const both = async (page: Page, path: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await accessibilityFindings(page), `${path}, ${colorScheme}`).toEqual([])
    }
  }
  const signIn = async (page: Page, email: string, password: string) => {
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
  }

  test('the link of `users link` beside a running server: a password is set by keyboard only, and the link is used up', async () => {
    const email = 'grace@example.com'
    await waymark('users', 'create', '--organization', organization, '--email', email)
    const { url } = await waymark('users', 'link', '--email', email)
    const page = await web.page({ width: 360, height: 740 })
    await page.goto(url)
    await page.getByLabel('New password').waitFor()
    await both(page, 'reset')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password')
    await page.keyboard.type('correct battery')
    await page.keyboard.press('Enter')
    await pagesShown(page)
    expect(page.url()).not.toContain('reset')
    await page.goto(url)
    await page.getByRole('alert').waitFor()
    await both(page, 'a used link')
    await page.getByRole('link', { name: 'Get another link' }).click()
    await page.getByText('waymark users link').waitFor()
    await both(page, 'forgot')
    await page.context().close()
    forgetRefusals(web)
  })

  test('the own password is changed with the present one, and others are signed out', async () => {
    const email = 'mary@example.com'
    await waymark('users', 'create', '--organization', organization, '--email', email)
    const [page, other] = [await web.page(), await web.page()]
    await page.goto((await waymark('users', 'link', '--email', email)).url)
    await page.getByLabel('New password').fill('first password')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await pagesShown(page)
    await other.goto(web.facts.url)
    await signIn(other, email, 'first password')
    await pagesShown(other)
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/account`)
    const sessions = page.getByRole('region', { name: 'sessions' })
    await expect.poll(() => sessions.getByRole('row').count()).toBe(3)
    await both(page, 'settings/account')
    const change = async (present: string, next: string) => {
      await page.getByLabel('Current password').fill(present)
      await page.getByLabel('New password').fill(next)
      await page.getByRole('button', { name: 'Change password' }).click()
    }
    await change('wrong', 'second password')
    await page.getByText('Your current password is incorrect.').waitFor()
    await change('first password', 'short')
    await page.locator('.field', { hasText: 'New password' }).getByRole('alert').waitFor()
    await change('first password', 'second password')
    await page.getByText('Changed.').waitFor()
    await expect.poll(() => sessions.getByRole('row').count()).toBe(2)
    await other.reload()
    await signIn(other, email, 'second password')
    await pagesShown(other)
    await page.reload()
    await page.getByRole('button', { name: 'Sign out everywhere else…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere else' }).click()
    await expect.poll(() => sessions.getByRole('row').count()).toBe(2)
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await both(other, 'sign-in')
    await page.context().close()
    await other.context().close()
    forgetRefusals(web)
  })

  test('by keyboard only: sign-in, and the way to a new password', async () => {
    const page = await web.page()
    await page.goto(web.facts.url)
    await page.getByLabel('E-mail address').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('email')
    await page.keyboard.type(owner.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Password').focus()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type(owner.password)
    await page.keyboard.press('Enter')
    await pagesShown(page)
    await page.context().close()
    forgetRefusals(web)
  })
})

describe.skipIf(!hasBrowser)('with a mail server, in a browser', () => {
  let web: Web
  let smtp: SmtpServer
  beforeAll(async () => {
    smtp = await startSmtp()
    web = await openWeb({ args: ['--smtp', smtp.url] })
    await (await web.signedIn()).context().close()
  })
  afterAll(async () => {
    await web.close()
    await smtp.close()
    expect(web.complaints).toEqual([])
  })

  test('who forgot a password gets a mail, and its link sets another one', async () => {
    const page = await web.page()
    await page.goto(web.facts.url)
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    for (const email of ['nobody@example.com', owner.email]) {
      await page.getByLabel('E-mail address').fill(email)
      expect(await accessibilityFindings(page)).toEqual([])
      await page.keyboard.press('Enter')
      await page.getByText(`If ${email} has an account here, a mail is on its way`).waitFor()
      await page.reload()
    }
    await expect.poll(() => smtp.mails.map(({ to }) => to[0])).toEqual([owner.email])
    // Long lines of a mail are folded.
    const [link] = /http\S+#\/reset\/\S+/.exec(smtp.mails[0]!.text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='))!
    await page.goto(link)
    await page.getByLabel('New password').fill('another password')
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await expect.poll(() => smtp.mails.length).toBe(2)
    await page.context().close()
  })

  test('a subscription by mail is made and sent', async () => {
    const page = await web.page()
    await page.goto(web.facts.url)
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill('another password')
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    const insight = await web.api<{ short_id: string }>('POST', `/api/projects/${web.demo}/insights/`, {
      name: 'Purchases',
      saved: true,
      query: { kind: 'InsightVizNode', source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'purchase' }] } },
    })
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/${insight.short_id}`)
    await page.getByRole('button', { name: 'Alerts', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('tab', { name: 'Subscriptions' }).click()
    await dialog.getByLabel('Title').fill('Monday numbers')
    await dialog.getByLabel('First time').fill('2030-01-07T09:00')
    expect(await dialog.getByText('no mail server').count()).toBe(0)
    await dialog.getByRole('button', { name: 'Create the subscription' }).click()
    await dialog.getByRole('heading', { name: 'Monday numbers' }).waitFor()
    const sent = smtp.mails.length
    await dialog.getByRole('button', { name: 'Send a test of Monday numbers' }).click()
    await expect.poll(() => smtp.mails.length).toBe(sent + 1)
    expect(smtp.mails.at(-1)!.to).toEqual([owner.email])
    await page.context().close()
  })
})
