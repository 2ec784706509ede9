import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, dialogClosed, forgetRefusals, hasBrowser, openWeb, pagesShown, type Web, waymarkIn } from './browser.ts'

// With the virtual authenticator of Chromium. Passkeys are bound to a name, so the pages are opened as `localhost`.

describe.skipIf(!hasBrowser)('passkeys in a browser', () => {
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
  const url = () => web.facts.url.replace('127.0.0.1', 'localhost')
  const looksRight = async (page: Page, what: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await accessibilityFindings(page), `${what}, ${colorScheme}`).toEqual([])
    }
    expect(await page.evaluate('document.documentElement.scrollWidth'), what).toBe(page.viewportSize()!.width)
  }
  const authenticatorOf = async (page: Page): Promise<{ client: CDPSession; id: string }> => {
    const client = await page.context().newCDPSession(page)
    await client.send('WebAuthn.enable')
    const { authenticatorId: id } = await client.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return { client, id }
  }
  /** A member with a password, signed in at 360 pixels. */
  const member = async (email: string, password: string) => {
    await waymarkIn(web)('users', 'create', '--organization', organization, '--email', email)
    const link = await waymarkIn(web)('users', 'link', '--email', email, '--keep-access')
    const page = await web.page({ width: 360, height: 740 })
    await page.goto(String(link.url).replace('127.0.0.1', 'localhost'))
    await page.getByLabel('New password').fill(password)
    await page.keyboard.press('Enter')
    return page
  }
  const leave = async (page: Page) => {
    await page.context().clearCookies({ name: 'waymark_session' })
    await page.goto(url())
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }
  const account = (page: Page) => page.goto(`${url()}/#/project/${web.facts.project_id}/settings/account`)

  test('one is added, signs in after the password and alone, is named and removed: by keyboard, at 360 pixels', async () => {
    const [email, password] = ['grace@example.com', 'correct battery']
    const page = await member(email, password)
    const { client, id } = await authenticatorOf(page)
    await pagesShown(page)
    await account(page)
    await page.getByLabel('Name of the passkey').fill('Pocket key')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').count()).toBe(10)
    await looksRight(page, 'recovery codes')
    const recovery = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allTextContents()
    await page.getByRole('button', { name: 'I have saved them' }).press('Enter')
    await page.getByText('Signing in takes a passkey').waitFor()
    await page.getByRole('row', { name: /Pocket key/ }).waitFor()
    await looksRight(page, 'the account')
    const { credentials } = await client.send('WebAuthn.getCredentials', { authenticatorId: id })
    expect(credentials).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }])

    // After the password.
    await leave(page)
    await looksRight(page, 'signing in')
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor()
    await looksRight(page, 'the second step')
    await page.getByRole('button', { name: 'Use a passkey' }).press('Enter')
    await pagesShown(page)

    // Alone: the person is verified, or it is refused.
    await leave(page)
    await client.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false })
    await page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter')
    await page.getByRole('alert').waitFor()
    await looksRight(page, 'a refusal')
    await client.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: true })
    await page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter')
    await pagesShown(page)

    // With the passkey: new recovery codes. Then its name.
    await account(page)
    await page.getByRole('button', { name: 'New recovery codes' }).press('Enter')
    await page.getByRole('button', { name: 'Use a passkey for new recovery codes' }).press('Enter')
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
    await expect.poll(() => codes.count()).toBe(10)
    expect(await codes.allTextContents()).not.toEqual(recovery)
    await page.getByRole('button', { name: 'I have saved them' }).press('Enter')
    const row = page.getByRole('row', { name: /Pocket key/ })
    await row.getByRole('button', { name: 'Rename…' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill('Key ring')
    await page.keyboard.press('Enter')
    await dialogClosed(page)

    // The last factor is turned off, not removed.
    const renamed = page.getByRole('row', { name: /Key ring/ })
    await renamed.getByRole('button', { name: 'Remove…' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter')
    await page.getByRole('dialog').getByText('This passkey is your only second factor.').waitFor()
    await looksRight(page, 'the dialog')
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    await page.getByRole('button', { name: 'Turn off…' }).press('Enter')
    await page.getByRole('button', { name: 'Turn off with a passkey' }).press('Enter')
    await page.getByText('You have none.').waitFor()
    await leave(page)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter')
    await page.getByText('This passkey was not accepted.').waitFor()
    await page.context().close()
    forgetRefusals(web)
  })

  test('an organization requires a second factor: a passkey opens it', async () => {
    const page = await member('mary@example.com', 'second password')
    await authenticatorOf(page)
    await pagesShown(page)
    await web.api('PATCH', `/api/organizations/${organization}/`, { enforce_2fa: true })
    await page.reload()
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await looksRight(page, 'the page for setting up')
    await page.getByRole('button', { name: 'Add a passkey' }).press('Enter')
    await page.getByRole('button', { name: 'I have saved them' }).press('Enter')
    await pagesShown(page)
    await page.context().close()
    forgetRefusals(web)
  })
})
