import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, forgetRefusals, hasBrowser, openWeb, pagesShown, type Web, waymarkIn } from './browser.ts'

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
})
