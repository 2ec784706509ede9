import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, forgetRefusals, hasBrowser, openWeb, pagesShown, type Web, waymarkIn } from './browser.ts'
import { pagePaths } from './page-paths.ts'

/** Names of buttons that change something. */
const changing =
  /^(Save(?!d)|Create|Invite|Install|Add|Verify|Switch|Remove|Delete|Withdraw|New |Write a plugin|Choose a file|Pause|Uninstall|Rotate|Make it private|Merge|Split|Edit|\+ Add a property)/

describe.skipIf(!hasBrowser)('a viewer in a browser', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb({ hasDemo: false })
    await (await web.signedIn()).context().close()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('asks, is told what a viewer is, and keeps the own account; an administrator sees the level: at 360 pixels', async () => {
    const base = `/api/projects/${web.facts.project_id}/`
    const { organization } = await web.api<{ organization: string }>('GET', base)
    await waymarkIn(web)('users', 'create', '--organization', organization, '--email', 'vi@example.com', '--level', 'viewer')
    const { url } = await waymarkIn(web)('users', 'link', '--email', 'vi@example.com', '--keep-access')
    const page = await web.page({ width: 360, height: 740 })
    await page.goto(url)
    await page.getByLabel('New password').fill('looks and asks')
    await page.keyboard.press('Enter')
    await pagesShown(page)
    const open = (path: string) => page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/${path}`)

    await open('settings/members')
    await page.getByText('You are a viewer here').waitFor()
    await page
      .getByRole('row', { name: /vi@example\.com/ })
      .getByText('Viewer')
      .waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await open('settings/invites')
    await page.getByText('Viewers cannot invite others.').waitFor()
    expect(await page.getByRole('button', { name: 'Invite', exact: true }).count()).toBe(0)

    const asked = await page.evaluate(async (path) => {
      const send = (to: string, body: object) =>
        fetch(to, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
      const query = { kind: 'HogQLQuery', query: 'select 1' }
      return [(await send(`${path}query/`, { query })).status, (await send(`${path}insights/`, { query })).status]
    }, base)
    expect(asked).toEqual([200, 403])
    await open('settings/account')
    await page.getByLabel('First name').fill('Vi')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
    await page.context().close()

    const boss = await web.signedIn()
    await boss.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/members`)
    await boss.getByLabel('Level of Vi').selectOption({ label: 'Member' })
    await expect
      .poll(
        async () =>
          (await web.api<{ results: { level: number }[] }>('GET', `/api/organizations/${organization}/members/?email=vi@example.com`))
            .results,
      )
      .toMatchObject([{ level: 1 }])
    await boss.context().close()
    forgetRefusals(web)
  })

  test('is offered no changes on any page', async () => {
    const base = `/api/projects/${web.facts.project_id}/`
    const { organization, api_token } = await web.api<{ organization: string; api_token: string }>('GET', base)
    await web.api('POST', `/api/organizations/${organization}/invites/`, { target_email: 'new@example.com' })
    const plugin = await web.api<{ id: number }>('POST', `/api/organizations/${organization}/plugins/`, {
      plugin_type: 'source',
      name: 'Kept',
    })
    await web.api('PATCH', `/api/organizations/${organization}/plugins/${plugin.id}/update_source/`, {
      'index.ts': 'export const processEvent = (event) => event',
      'plugin.json': JSON.stringify({ name: 'Kept', config: [{ key: 'k', name: 'Key', type: 'string' }] }),
    })
    const config = await web.api<{ id: number }>('POST', `${base}plugin_configs/`, { plugin: plugin.id, enabled: true, order: 1 })
    await web.api('POST', '/batch/', {
      api_key: api_token,
      batch: [{ event: 'hello', distinct_id: 'someone', properties: { $set: { plan: 'pro' } } }],
    })
    await waymarkIn(web)('users', 'create', '--organization', organization, '--email', 'eve@example.com', '--level', 'viewer')
    const { url } = await waymarkIn(web)('users', 'link', '--email', 'eve@example.com', '--keep-access')
    const page = await web.page()
    await page.goto(url)
    await page.getByLabel('New password').fill('looks and asks')
    await page.keyboard.press('Enter')
    await pagesShown(page)
    const main = page.locator('main')
    const offered: string[] = []
    for (const path of [...pagePaths, `pipelines/plugins/${config.id}`, 'people/by-id?distinct_id=someone']) {
      await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/nothing`)
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
      await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/${path}`)
      await main.getByRole('heading').or(main.getByRole('alert')).first().waitFor()
      await expect.poll(() => main.locator('.working').count(), { message: path }).toBe(0)
      const buttons = main.getByRole('button', { name: changing, disabled: false })
      const links = main.getByRole('link', { name: /^(New (export|cohort|flag)|Configure|Choose one|Make the first one)$/ })
      for (const text of [...(await buttons.allTextContents()), ...(await links.allTextContents())]) offered.push(`${path}: ${text}`)
    }
    // Of their own: an organization that they make, their account and its keys, and a list that stands still for them.
    const own = /^(settings\/(organization|account|keys)|live): /
    expect(offered.filter((one) => !own.test(one))).toEqual([])
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/project`)
    await page.getByText('Only members can change this.').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.context().close()
    forgetRefusals(web)
  })
})
