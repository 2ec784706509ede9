import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requestIn, serviceOf } from '../doors/http/saml.ts'
import { OpenIdProvider } from '../harness/openid-provider.ts'
import { hasXmlsec, SamlProvider } from '../harness/saml-provider.ts'
import { accessibilityFindings, dialogClosed, forgetRefusals, hasBrowser, openWeb, owner, type Web, waymarkIn } from './browser.ts'

describe.skipIf(!hasBrowser)('single sign-on in a browser', () => {
  let web: Web
  let provider: OpenIdProvider
  let folder: string
  let organization: string
  beforeAll(async () => {
    provider = await new OpenIdProvider().start()
    provider.asks = true
    folder = await mkdtemp(join(tmpdir(), 'waymark-sso-'))
    const file = join(folder, 'oidc.json')
    const { issuer, clientId: client_id, clientSecret: client_secret } = provider
    await writeFile(file, JSON.stringify({ acme: { name: 'Acme', issuer, client_id, client_secret } }))
    web = await openWeb({ hasDemo: false, args: ['--oidc', file] })
    await (await web.signedIn()).context().close()
    organization = (await web.api<{ organization: string }>('GET', `/api/projects/${web.facts.project_id}/`)).organization
  })
  afterAll(async () => {
    await web.close()
    forgetRefusals(web)
    await provider.close()
    await rm(folder, { recursive: true })
    expect(web.complaints).toEqual([])
  })
  const waymark = (...args: string[]) => waymarkIn(web)(...args)
  const narrow = { width: 360, height: 740 }
  const looksRight = async (page: Page, what: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await accessibilityFindings(page), `${what}, ${colorScheme}`).toEqual([])
    }
    expect(await page.evaluate('document.documentElement.scrollWidth'), what).toBe(page.viewportSize()!.width)
  }
  const approve = (page: Page) => page.getByRole('link', { name: 'Continue as' }).press('Enter')
  const isIn = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const person = (email: string) => {
    provider.person = { sub: `sub ${email}`, email, email_verified: true, name: 'Grace Hopper' }
  }

  test('OpenID Connect of the operator, by keyboard, at 360 pixels; what the provider refuses is explained', async () => {
    await waymark('users', 'create', '--organization', organization, '--email', 'grace@else.test')
    const page = await web.page(narrow)
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/account`)
    await page.getByRole('link', { name: 'Continue with Acme' }).waitFor()
    await looksRight(page, 'the sign-in page')
    person('nobody@else.test')
    await page.getByRole('link', { name: 'Continue with Acme' }).press('Enter')
    await approve(page)
    await page.getByRole('heading', { name: 'Signing in did not work' }).waitFor()
    await page.getByText('There is no account with your address yet.').waitFor()
    await looksRight(page, 'the problem')
    await page.getByRole('link', { name: 'Back to the sign-in page' }).press('Enter')

    person('grace@else.test')
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/account`)
    await page.getByLabel('E-mail address').fill('grace@else.test')
    await page.getByRole('link', { name: 'Continue with Acme' }).press('Enter')
    await approve(page)
    await isIn(page)
    expect(new URL(page.url()).hash, 'the page that was asked for').toBe(`#/project/${web.facts.project_id}/settings/account`)
    await page.context().close()
  })

  test('an organization sets up its own issuer, requires it, and its users are led there', async () => {
    await waymark('domains', 'verify', 'example.com', '--organization', organization)
    const page = await web.signedIn(narrow)
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/domains`)
    await page.getByRole('button', { name: 'OpenID Connect…' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`${web.facts.url}/oidc/example.com/callback`).waitFor()
    await dialog.getByLabel('Issuer').fill('http://login.example.com')
    await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    await dialog.getByText('Must be an address that begins with https://').waitFor()
    await looksRight(page, 'the issuer')
    await dialog.getByLabel('Issuer').fill(provider.issuer)
    await dialog.getByLabel('Client ID').fill(provider.clientId)
    await dialog.getByLabel('Client secret').fill(provider.clientSecret)
    await page.keyboard.press('Enter')
    await dialogClosed(page)

    // Not before the administrator has signed in with it.
    const require = async () => {
      await page.getByRole('button', { name: 'Sign-in…' }).press('Enter')
      await dialog.getByLabel('Only with').selectOption('OpenID Connect')
      await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    }
    await require()
    await dialog.getByText('Sign in with this provider first').waitFor()
    await looksRight(page, 'the way of signing in')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard it' }).press('Enter')
    await dialogClosed(page)
    person(owner.email)
    await page.goto(`${web.facts.url}/oidc/example.com/login?next=/project/${web.facts.project_id}/settings/domains`)
    await approve(page)
    await isIn(page)
    await require()
    await dialogClosed(page)
    await page.getByText('OpenID Connect only').waitFor()

    const other = await web.page(narrow)
    await other.goto(web.facts.url)
    await other.getByLabel('E-mail address').fill(owner.email)
    await other.keyboard.press('Tab')
    await other.getByText('Your organization requires that you sign in with an identity provider.').waitFor()
    expect(await other.getByLabel('Password').count()).toBe(0)
    await looksRight(other, 'a provider is required')
    await other.getByRole('link', { name: 'Continue with example.com' }).press('Enter')
    await approve(other)
    await isIn(other)

    // The operator lets in who is locked out.
    await waymark('domains', 'set', 'example.com', '--sso-enforcement', 'none')
    const back = await web.page()
    await back.goto(web.facts.url)
    await back.getByLabel('E-mail address').fill(owner.email)
    await back.getByLabel('Password').fill(owner.password)
    await back.keyboard.press('Enter')
    await isIn(back)
    web.keep(await back.context().storageState()) // signing in by the provider has ended the first session
    for (const one of [page, other, back]) await one.context().close()
  })

  test.skipIf(!hasXmlsec)('SAML, begun here and by the provider, by keyboard, at 360 pixels', async () => {
    await waymark('domains', 'verify', 'saml.test', '--organization', organization)
    await waymark('users', 'create', '--organization', organization, '--email', 'ada@saml.test')
    const provider = new SamlProvider()
    provider.person = { nameId: 'ada@saml.test' }
    await provider.serve(serviceOf('saml.test', web.facts.url), (url) => (url.searchParams.has('SAMLRequest') ? requestIn(url).id : null))
    const page = await web.signedIn(narrow)
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/domains`)
    const row = page.locator('tr', { hasText: 'saml.test' })
    await row.getByRole('button', { name: 'SAML…' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`${web.facts.url}/saml/saml.test/acs`).waitFor()
    await dialog.getByLabel('Entity ID of the provider').fill(provider.entity)
    await dialog.getByLabel('Sign-on URL of the provider').fill(provider.entryPoint)
    await dialog.getByLabel('Certificate of the provider').fill(provider.certificate)
    await looksRight(page, 'SAML of a domain')
    await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    await dialogClosed(page)
    await waymark('domains', 'set', 'saml.test', '--sso-enforcement', 'saml')
    await page.context().close()

    const begun = await web.page(narrow)
    await begun.goto(`${web.facts.url}/#/project/${web.facts.project_id}/live`)
    await begun.getByLabel('E-mail address').fill('ada@saml.test')
    await begun.keyboard.press('Tab')
    await begun.getByText('Your organization requires that you sign in with SAML.').waitFor()
    await begun.getByRole('link', { name: 'Continue with saml.test (SAML)' }).press('Enter')
    await begun.getByRole('button', { name: 'Continue as ada@saml.test' }).press('Enter')
    await isIn(begun)
    expect(new URL(begun.url()).hash).toBe(`#/project/${web.facts.project_id}/live`)

    // The provider begins: nobody here has asked, so the page asks.
    const offered = await web.page(narrow)
    await offered.goto(provider.entryPoint)
    await offered.getByRole('button', { name: 'Continue as ada@saml.test' }).press('Enter')
    await offered.getByText('Continue only if this is you.').waitFor()
    await looksRight(offered, 'the page that asks')
    await offered.getByRole('button', { name: 'Continue' }).press('Enter')
    await isIn(offered)
    for (const one of [begun, offered]) await one.context().close()
    provider.close()
  })
})
