import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, owner, settled, type Web } from './browser.ts'

// What the API refuses is shown at the input that caused it, for eyes and for screen readers; a banner is for what no input is about.

describe.skipIf(!hasBrowser)('errors at fields', () => {
  let web: Web
  let page: Page
  const open = async (path: string) => {
    // What the test before has typed is not asked about.
    await page.context().close()
    page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
    await page.locator('main').getByRole('heading').first().waitFor()
    await settled(page)
  }
  const main = () => page.locator('main')
  const condition = (i: number) => main().locator('.condition').nth(i)
  /** The only invalid input is this one, its description is the error, and there is no banner. */
  const isAt = async (field: Locator, text: string | RegExp, hasFocus = true) => {
    await expect.poll(() => field.getAttribute('aria-invalid'), { message: `${text}` }).toBe('true')
    expect(await page.locator('[aria-invalid=true]').count()).toBe(1)
    const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ')
    const description = await page.locator(`[id="${ids.at(-1)}"]`).textContent()
    expect(description).toMatch(text)
    expect(description).not.toMatch(/validation error|Query\b|__/)
    if (hasFocus) expect(await field.and(page.locator(':focus')).count()).toBe(1)
    expect(await page.locator('.error-box').count()).toBe(0)
  }

  beforeAll(async () => {
    web = await openWeb()
    page = await web.signedIn()
  })
  afterAll(async () => {
    await web.close()
    // Refusals are what this file is about.
    expect(web.complaints.filter((one) => !/status of 40[03]/.test(one))).toEqual([])
  })

  const a = { kind: 'EventsNode', event: 'purchase', name: 'purchase', math: 'total' }
  const trend = (more: object = {}) => ({ kind: 'TrendsQuery', series: [a], interval: 'day', dateRange: { date_from: '-7d' }, ...more })
  const sqlFilter = (key: string) => ({ key, type: 'hogql', operator: 'exact', value: null })
  const good = { key: 'plan', type: 'event', operator: 'exact', value: ['pro'] }

  test.each<[what: string, query: object, label: string, text: RegExp]>([
    ['a math of the second series', trend({ series: [a, { ...a, math: 'most' }] }), 'What is counted in B', /one of/i],
    [
      'an expression that is counted',
      trend({ series: [a, { ...a, math: 'hogql', math_hogql: 'sum(nothing_like_it)' }] }),
      'SQL expression of B',
      /nothing_like_it/,
    ],
    ['a formula', trend({ trendsFilter: { formula: 'A + (' } }), 'Formula 1', /./],
    ['the second of two formulas', trend({ trendsFilter: { formulaNodes: [{ formula: 'A' }, { formula: 'A + Z' }] } }), 'Formula 2', /Z/],
    ['a filter', trend({ properties: [good, sqlFilter('nothing_like_it > 1')] }), 'SQL expression', /nothing_like_it/],
    [
      'a filter in a group',
      trend({
        properties: {
          type: 'OR',
          values: [
            { type: 'AND', values: [good] },
            { type: 'AND', values: [good, sqlFilter('nothing_like_it > 1')] },
          ],
        },
      }),
      'SQL expression',
      /nothing_like_it/,
    ],
    [
      'a filter of a series',
      trend({ series: [{ ...a, properties: [sqlFilter('nothing_like_it > 1')] }] }),
      'SQL expression',
      /nothing_like_it/,
    ],
    [
      'a breakdown',
      trend({ breakdownFilter: { breakdown: 'nothing_like_it', breakdown_type: 'hogql' } }),
      'SQL expression of the breakdown',
      /nothing_like_it/,
    ],
    ['a day', trend({ dateRange: { date_from: 'some day' } }), 'Dates: some day', /./],
    ['the interval', trend({ interval: 'century' }), 'Interval', /one of/i],
    [
      'a time to convert',
      { kind: 'FunnelsQuery', series: [a, a], funnelsFilter: { funnelWindowInterval: -1 }, dateRange: { date_from: '-7d' } },
      'Time to convert',
      /./,
    ],
  ])('of an insight: %s', async (_, query, label, text) => {
    await open(`insights/new?q=${encodeURIComponent(JSON.stringify(query))}`)
    await page.getByText('There is no answer: the field with the error shows why.').waitFor()
    const field = main().getByLabel(label, { exact: true })
    await isAt(field.or(main().getByRole('button', { name: label, exact: true })).first(), text)
  })

  test('what is put right is not wrong any more, and who types elsewhere keeps the focus', async () => {
    await open(`insights/new?q=${encodeURIComponent(JSON.stringify(trend({ trendsFilter: { formula: 'A' } })))}`)
    const formula = main().getByLabel('Formula 1', { exact: true })
    await formula.fill('A + (')
    // On to the next field before the answer is there.
    await main().getByLabel('Name of formula 1').focus()
    await isAt(formula, /./, false)
    expect(await main().getByLabel('Name of formula 1').and(page.locator(':focus')).count()).toBe(1)
    expect(await accessibilityFindings(page)).toEqual([])
    await formula.fill('A * 2')
    await formula.press('Enter')
    await expect.poll(() => formula.getAttribute('aria-invalid')).toBeNull()
    expect(await formula.getAttribute('aria-describedby')).toBeNull()
    await page.locator('.answer figure, .answer svg').first().waitFor()
  })

  test('what no field is about is a banner', async () => {
    await open(`insights/new?q=${encodeURIComponent(JSON.stringify(trend({ samplingFactor: 7 })))}`)
    await page.locator('.answer .error-box').waitFor()
    expect(await page.locator('[aria-invalid=true]').count()).toBe(0)
  })

  test('of a group of fields: below its title, and no field leaves it', async () => {
    await open('settings/keys')
    await page.getByLabel('What it is for').fill('Reporting')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const group = page.getByRole('group', { name: 'What it may do' })
    await isAt(group.getByRole('button', { name: 'Read only' }), 'Choose what the key may do.')
    const frame = (await group.boundingBox())!
    const presets = (await group.getByRole('group', { name: 'Presets' }).boundingBox())!
    expect(presets.x + presets.width).toBeLessThanOrEqual(frame.x + frame.width)
    expect(presets.height).toBeLessThan(100)
  })

  test('of an alert: bounds, and whom to tell', async () => {
    const insight = await web.api<{ id: number; short_id: string }>('POST', `/api/projects/${web.demo}/insights/`, {
      name: 'Watched',
      saved: true,
      query: trend(),
    })
    await open(`insights/${insight.short_id}`)
    await page.getByRole('button', { name: 'Alerts', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Bounds')
    await dialog.getByRole('button', { name: 'Create the alert' }).click()
    await isAt(dialog.getByLabel('Alert below'), /lower or an upper bound/)
    await dialog.getByLabel('Alert below').fill('3')
    await dialog.getByLabel('Alert above').fill('1')
    await dialog.getByRole('button', { name: 'Create the alert' }).click()
    await isAt(dialog.getByLabel('Alert below'), /above the upper bound/)
  })

  const forms: readonly [what: string, path: string, fill: () => Promise<void>, field: () => Locator, text: RegExp][] = [
    [
      'settings: a time zone that does not exist',
      'settings/project',
      async () => {
        await main().getByLabel('Time zone').first().fill('Mars/Base')
        await main().getByRole('button', { name: 'Save' }).first().click()
      },
      () => main().getByLabel('Time zone').first(),
      /Mars|time ?zone/i,
    ],
    [
      'an invitation of a member',
      'settings/invites',
      async () => {
        await main().getByLabel('E-mail address').fill(owner.email)
        await main().getByRole('button', { name: 'Invite', exact: true }).click()
      },
      () => main().getByLabel('E-mail address'),
      /./,
    ],
    [
      'a cohort without a condition',
      'cohorts/new',
      async () => {
        await main().getByLabel('Name').fill('Empty')
        await main().getByRole('button', { name: 'Create the cohort' }).click()
      },
      () => main().locator('.condition-group, .condition').first().locator('input, select').first(),
      /at least one condition/,
    ],
    [
      'a condition of a cohort: its second one, beside one that is not filled in',
      'cohorts/new',
      async () => {
        await main().getByLabel('Name').fill('Patterns')
        await main().getByRole('button', { name: '+ Add a condition' }).click()
        await main().getByRole('button', { name: '+ Add a condition' }).click()
        for (const [i, value] of [
          [0, 'pro'],
          [2, '('],
        ] as const) {
          await condition(i).getByLabel('Property', { exact: true }).fill('plan')
          if (i === 2) await condition(i).getByLabel('Comparison').selectOption('regex')
          await condition(i).getByLabel('Value').fill(value)
        }
        await main().getByRole('button', { name: 'Create the cohort' }).click()
      },
      () => condition(2).getByLabel('Value'),
      /regular expression/i,
    ],
    [
      'a condition of the second group of a cohort',
      'cohorts/new',
      async () => {
        await main().getByLabel('Name').fill('Others')
        await condition(0).getByLabel('Property', { exact: true }).fill('plan')
        await condition(0).getByLabel('Value').fill('pro')
        await main().getByRole('button', { name: '+ Add a group' }).click()
        await condition(1).getByLabel('Property', { exact: true }).fill('plan')
        await condition(1).getByLabel('Comparison').selectOption('not_regex')
        await condition(1).getByLabel('Value').fill('[')
        await main().getByRole('button', { name: 'Create the cohort' }).click()
      },
      () => condition(1).getByLabel('Value'),
      /regular expression/i,
    ],
    [
      'a batch export to an address with a wrong scheme',
      'pipelines/exports/new',
      async () => {
        await main().getByRole('combobox', { name: 'Destination' }).selectOption('HTTP')
        await main().getByLabel('Name').fill('Private')
        await main().getByLabel('URL').fill('ftp://example.com/')
        if (await main().getByLabel('Token', { exact: false }).count()) await main().getByLabel('Token', { exact: false }).first().fill('x')
        await main().getByRole('button', { name: 'Create', exact: true }).click()
      },
      () => main().getByLabel('URL'),
      /./,
    ],
    [
      'an account: another address with a wrong password',
      'settings/account',
      async () => {
        await main().getByLabel('E-mail address').fill('other@example.com')
        await main().getByLabel('Your password, to change the address').fill('wrong')
        await main().getByRole('button', { name: 'Save' }).first().click()
      },
      () => main().getByLabel('Your password, to change the address'),
      /password/i,
    ],
    [
      'an API key that may do nothing',
      'settings/keys',
      async () => {
        await main().getByLabel('What it is for').fill('Nothing')
        await main().getByRole('button', { name: 'Create', exact: true }).click()
      },
      () => main().getByRole('button', { name: 'Read only' }),
      /^Choose what the key may do\.$/,
    ],
  ]
  test.each(forms)('of %s', async (_, path, fill, field, text) => {
    await open(path)
    await fill()
    await isAt(field(), text)
  })
})
