import { readFile } from 'node:fs/promises'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openNumbers, openWeb, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('the people behind a number', () => {
  let web: Web
  const base = () => `/api/projects/${web.demo}/`
  const query = {
    kind: 'FunnelsQuery',
    series: ['$pageview', 'product added'].map((event) => ({ kind: 'EventsNode', event })),
    dateRange: { date_from: '-30d' },
  }
  const listed = async (more: object) => {
    const source = { kind: 'FunnelsActorsQuery', source: query, funnelStep: 2 }
    const { results } = await web.api<{ results: [string, { display_name: string }, string | null][] }>('POST', `${base()}query/`, {
      query: { kind: 'ActorsQuery', source, select: ['id', 'person_display_name', 'properties.plan'], limit: 5_000, ...more },
    })
    return results
  }

  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('are counted, searched, shown with properties, downloaded, compared, and saved as a cohort', async () => {
    const all = await listed({})
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?q=${encodeURIComponent(JSON.stringify(query))}`)
    await page.getByRole('region', { name: 'Steps' }).getByRole('row').nth(2).getByRole('button').first().click()
    const dialog = page.getByRole('dialog', { name: 'Reached product added' })
    const rows = dialog.locator('.people tr')
    await dialog.getByRole('status').getByText(`${all.length} people`).waitFor()
    await expect.poll(() => rows.count()).toBe(Math.min(50, all.length))
    expect(await accessibilityFindings(page)).toEqual([])

    // A property of theirs as a column.
    await dialog.getByLabel('Show a property as a column').fill('plan')
    await page.keyboard.press('Enter')
    await dialog.getByRole('columnheader', { name: 'plan' }).waitFor()
    const plans = new Map(all.map(([id, , plan]) => [id, plan]))
    const idIn = async (row: Locator) => (await row.getByRole('link').getAttribute('href'))!.split('/').at(-1)!
    for (const row of await rows.all()) {
      const shown = await row.getByRole('cell').nth(1).textContent()
      expect(shown).toBe(plans.get(await idIn(row)) ?? '')
    }

    // Every one of them once, over all pages.
    const seen = new Set<string>()
    for (;;) {
      for (const row of await rows.all()) seen.add(await idIn(row))
      const next = dialog.getByRole('button', { name: 'Next' })
      if (seen.size === all.length || !(await next.isEnabled())) break
      const before = await rows.first().textContent()
      await next.click()
      await expect.poll(() => rows.first().textContent()).not.toBe(before)
    }
    expect([...seen].sort()).toEqual(all.map(([id]) => id).sort())

    const words = all[0]![1].display_name.slice(0, 6)
    const fitting = await listed({ search: words })
    await dialog.getByLabel('Search the people').fill(words)
    await dialog.getByText(`${fitting.length} ${fitting.length === 1 ? 'person' : 'people'} found`).waitFor()

    const downloading = page.waitForEvent('download')
    await dialog.getByLabel('Download').selectOption('csv')
    const lines = (await readFile(await (await downloading).path(), 'utf8')).trim().split(/\r?\n/)
    expect(lines.length).toBe(fitting.length + 1)
    expect(lines[0]).toContain('person_display_name')

    await dialog.getByLabel('Search the people').fill('')
    await dialog.getByRole('status').getByText(`${all.length} people`).waitFor()
    const members = { type: 'cohort', key: 'id', operator: 'in' }
    const { id: paying } = await web.api<{ id: number }>('POST', `${base()}cohorts/`, {
      name: 'On the pro plan',
      filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] } },
    })
    await page.reload()
    await page.getByRole('region', { name: 'Steps' }).getByRole('row').nth(2).getByRole('button').first().click()
    await dialog.getByLabel('Compare with a cohort').fill('On the pro plan')
    await page.keyboard.press('Enter')
    const both = await listed({ fixedProperties: [{ ...members, value: paying }] })
    const overlap = dialog.locator('.overlap td')
    await expect
      .poll(() => overlap.allTextContents().then((all) => all.slice(0, 2)))
      .toEqual([`${both.length}`, `${all.length - both.length}`])

    await dialog.getByRole('button', { name: 'Save as cohort' }).click()
    const saving = page.getByRole('dialog', { name: 'Save as cohort' })
    await saving.getByLabel('Name').fill('Added something')
    await saving.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('status').getByText(`with ${all.length} people`).waitFor()
    await dialog.getByRole('link', { name: 'Added something' }).click()
    await page.getByRole('heading', { name: 'Added something' }).waitFor()
    const cohorts = await web.api<{ results: { id: number; name: string }[] }>('GET', `${base()}cohorts/?limit=100`)
    const saved = cohorts.results.find((one) => one.name === 'Added something')!
    expect((await listed({ fixedProperties: [{ ...members, value: saved.id }] })).length).toBe(all.length)
    await page.context().close()
  })

  test('say how many of the counted events each had', async () => {
    const trend = {
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'purchase', name: 'purchase', math: 'total' }],
      interval: 'day',
      dateRange: { date_from: '-7d' },
    }
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?q=${encodeURIComponent(JSON.stringify(trend))}`)
    await openNumbers(page)
    // One day: few enough for one page.
    const cells = page.getByRole('region', { name: 'Numbers' }).locator('tbody tr').first().locator('td')
    const number = cells.nth(3).getByRole('button')
    const total = Number((await number.textContent())!.replaceAll(',', ''))
    await number.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('columnheader', { name: 'Events' }).waitFor()
    const counts = await dialog.locator('.people tr td:nth-child(2)').allTextContents()
    expect(counts.reduce((sum, text) => sum + Number(text), 0)).toBe(total)
    expect(await dialog.locator('.people tr').count()).toBeLessThan(50)
  })
})
