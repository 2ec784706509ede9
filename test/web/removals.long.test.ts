import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, pagesShown, settled, type Web, waymarkIn } from './browser.ts'

interface Found {
  readonly results: readonly (Readonly<Record<string, unknown>> & { readonly id: number })[]
}

describe.skipIf(!hasBrowser)('removals and lists in a browser', () => {
  let web: Web
  let page: Page
  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  const base = () => `/api/projects/${web.demo}/`
  const stored = async (of: string) => (await web.api<Found>('GET', `${base()}${of}/`)).results
  const open = async (path: string) => {
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await settled(page)
  }
  const undo = () => page.getByRole('button', { name: 'Undo' }).click()

  test('an action comes back with its id and its steps', async () => {
    const made = await web.api<{ id: number; steps: object[] }>('POST', `${base()}actions/`, {
      name: 'Bought',
      steps: [{ event: 'purchase', properties: [{ key: '$browser', type: 'event', operator: 'exact', value: ['Firefox'] }] }],
    })
    await open('data/actions')
    await page.getByRole('button', { name: 'Delete Bought' }).click()
    await page.getByRole('row', { name: /Bought/ }).waitFor({ state: 'detached' })
    expect((await stored('actions')).some(({ id }) => id === made.id)).toBe(false)
    await undo()
    await page.getByRole('row', { name: /Bought/ }).waitFor()
    expect((await stored('actions')).find(({ id }) => id === made.id)).toMatchObject({ name: 'Bought', steps: made.steps })
  })

  test('an annotation comes back', async () => {
    const { id } = await web.api<{ id: number }>('POST', `${base()}annotations/`, { content: 'Sale', date_marker: '2026-01-05T10:00:00Z' })
    await open('data/annotations')
    await page.getByRole('button', { name: 'Delete Sale' }).click()
    await page.getByRole('row', { name: /Sale/ }).waitFor({ state: 'detached' })
    await undo()
    await page.getByRole('row', { name: /Sale/ }).waitFor()
    expect((await stored('annotations')).map((one) => one.id)).toContain(id)
  })

  test('a dynamic cohort comes back with the id that insights know, and an insight with it is answered again', async () => {
    const filters = {
      properties: {
        type: 'AND',
        values: [
          { type: 'behavioral', key: '$pageview', value: 'performed_event', event_type: 'events', time_value: 30, time_interval: 'day' },
        ],
      },
    }
    const { id, count } = await web.api<{ id: number; count: number }>('POST', `${base()}cohorts/`, { name: 'Visitors', filters })
    expect(count).toBeGreaterThan(0)
    await open(`cohorts/${id}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Cohorts', level: 1 }).waitFor()
    expect((await stored('cohorts')).map((one) => one.id)).not.toContain(id)
    await undo()
    await page.getByRole('heading', { name: 'Visitors', level: 1 }).waitFor()
    const { results } = await web.api<{ results: { count: number }[] }>('POST', `${base()}query/`, {
      query: {
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: '$pageview', math: 'dau' }],
        properties: [{ type: 'cohort', key: 'id', operator: 'in', value: id }],
        dateRange: { date_from: '-30d' },
        trendsFilter: { display: 'BoldNumber' },
      },
    })
    expect((results[0] as unknown as { aggregated_value: number }).aggregated_value).toBe(count)
  })

  test('a list sorts by a column when all of it is there', async () => {
    await open('data/events')
    const names = async () => (await page.locator('tbody tr td:first-child a').allInnerTexts()).map((name) => name.trim())
    const counts = async () => (await page.locator('tbody td:nth-child(2)').allInnerTexts()).map((text) => Number(text.replace(/\D/g, '')))
    const before = await names()
    const head = page.getByRole('columnheader', { name: 'Arrived' })
    expect(await head.getAttribute('aria-sort')).toBe('none')
    await head.getByRole('button').click()
    expect(await head.getAttribute('aria-sort')).toBe('descending')
    expect(await counts()).toEqual((await counts()).toSorted((a, b) => b - a))
    await head.getByRole('button').click()
    expect(await counts()).toEqual((await counts()).toSorted((a, b) => a - b))
    await head.getByRole('button').click()
    expect(await names()).toEqual(before)
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('on a phone the first column stays where it is while a table is scrolled sideways', async () => {
    const small = await web.signedIn({ width: 390, height: 800 })
    await small.goto(`${web.facts.url}/#/project/${web.demo}/people?columns=${encodeURIComponent('["plan","email","country"]')}`)
    const cell = small.locator('tbody td:first-child').first()
    await cell.waitFor()
    const before = (await cell.boundingBox())!.x
    await small.getByRole('region', { name: 'people' }).evaluate((region) => {
      ;(region as unknown as { scrollLeft: number }).scrollLeft = 300
    })
    expect((await cell.boundingBox())!.x).toBe(before)
    expect(await small.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await small.context().close()
  })

  test('what is read has a shape before it is there, and then what is at work with a way to end it', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/actions/?*', async (route) => {
      await released
      await route.continue()
    })
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${web.demo}/data/actions`)
    await page.locator('.skeleton').first().waitFor()
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0)
    await page.getByText('Reading actions').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
    release()
    await page.locator('.skeleton').waitFor({ state: 'detached' })
    await page.unroute('**/actions/?*')
  })

  test('a viewer is offered no changes', async () => {
    const { organization } = await web.api<{ organization: string }>('GET', base())
    await waymarkIn(web)('users', 'create', '--organization', organization, '--email', 'vi@example.com', '--level', 'viewer')
    const { url } = await waymarkIn(web)('users', 'link', '--email', 'vi@example.com', '--keep-access')
    const viewer = await web.page()
    await viewer.goto(url)
    await viewer.getByLabel('New password').fill('looks and asks')
    await viewer.keyboard.press('Enter')
    await pagesShown(viewer)
    for (const path of ['insights', 'dashboards', 'cohorts', 'data/actions', 'data/annotations']) {
      await viewer.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
      await viewer.locator('main tbody tr').first().waitFor()
      expect(
        await viewer
          .locator('main')
          .getByRole('button', { name: /^(Delete|Edit|New)\b/ })
          .count(),
        path,
      ).toBe(0)
      expect(await viewer.locator('main .menu-of').count(), path).toBe(0)
      expect(await viewer.getByRole('link', { name: /^New cohort/ }).count(), path).toBe(0)
    }
    await viewer.context().close()
  })
})
