import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { WatchesAnswer } from '../../src/doors/answers/notifications.ts'
import { type SmtpServer, startSmtp } from '../harness/smtp-server.ts'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

// Settings → Watching, of a server with a mail server.

describe.skipIf(!hasBrowser)('the page of what owners get mails about', () => {
  let smtp: SmtpServer
  let web: Web
  let page: Page
  let path: string
  beforeAll(async () => {
    smtp = await startSmtp()
    web = await openWeb({ hasDemo: false, args: ['--smtp', smtp.url] })
    page = await web.signedIn()
    path = `/api/projects/${web.facts.project_id}/watches/`
  })
  afterAll(async () => {
    await web.close()
    await smtp.close()
    expect(web.complaints).toEqual([])
  })
  const all = () => web.api<WatchesAnswer>('GET', path)
  const open = async () => {
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/members`)
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor()
    await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/settings/watching`)
    await page.getByRole('heading', { name: 'Watching this project' }).waitFor()
  }

  test('all mails are on, and one is switched off and on again', async () => {
    await open()
    const boxes = page.getByRole('checkbox')
    expect(await boxes.count()).toBe(7)
    for (const box of await boxes.all()) expect(await box.isChecked()).toBe(true)
    expect(await page.getByText('one mail when it begins, and one when it is over').count()).toBe(2)
    const box = page.getByRole('checkbox', { name: 'No events for an hour' })
    const isOn = async () => (await all()).results.find(({ name }) => name === 'silence')!.enabled
    await box.uncheck()
    await expect.poll(isOn).toBe(false)
    await open()
    expect(await box.isChecked()).toBe(false)
    await box.check()
    await expect.poll(isOn).toBe(true)
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('what is wrong is shown with what the mail says, and what is over with its times', async () => {
    const { results } = await all()
    const problem = { subject: '', began_at: '2026-03-02T10:00:00Z', mailed_at: '2026-03-02T10:00:00Z', lines: ['No event has arrived.'] }
    const changed = results.map((one) => {
      if (one.name === 'silence') return { ...one, problems: [{ ...problem, ended_at: null }] }
      if (one.name === 'export') return { ...one, problems: [{ ...problem, subject: 'Nightly', ended_at: '2026-03-02T12:00:00Z' }] }
      return one
    })
    await page.route(`**${path}`, (route) => route.fulfill({ json: { mails: false, results: changed } }))
    await open()
    expect(await page.getByRole('alert').textContent()).toMatch(/^No event has arrived\.Since .*The owners got a mail\.$/)
    expect(await page.getByText(/^Nightly: Last time from/).textContent()).toContain(' to ')
    expect(await page.getByText('This server has no mail server').count()).toBe(2)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.unroute(`**${path}`)
  })
})
