import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, chooseDates, dialogClosed, hasBrowser, openNumbers, openWeb, type Web } from './browser.ts'

// Each kind of insight built by clicks: the query that results, its numbers beside those of the API, and the people behind them.

/** What is read of an answer's rows. */
interface Row {
  readonly order?: number
  readonly breakdown_value?: string
  readonly data: readonly number[]
  readonly count: number
  readonly aggregated_value: number
  readonly compare_label?: string
  readonly status: string
  readonly value: number
  readonly source?: string
  readonly target?: string
  readonly values: readonly { readonly count: number }[]
  readonly calendar_heatmap_data: { readonly data: readonly { readonly row: number; readonly column: number; readonly value: number }[] }
}

describe.skipIf(!hasBrowser)('insights by clicks', () => {
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

  const open = async (kind: string) => {
    await page.goto('about:blank')
    await page.goto(`${web.facts.url}/#/project/${web.demo}/insights/new?kind=${kind}`)
    await page.locator('.answer[aria-busy=false] .result').waitFor()
  }
  const type = async (label: string, text: string) => {
    const field = page.getByLabel(label, { exact: true })
    await field.fill(text)
    await field.press('Enter')
  }
  const choose = (label: string, value: string) => page.getByLabel(label, { exact: true }).selectOption(value)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  /** The query of the address. */
  const asked = async () => JSON.parse(new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('q')!) as Record<string, unknown>
  /** Waits for the query; its answer by the API. */
  const answerTo = async (query: object): Promise<readonly Row[]> => {
    await expect.poll(asked).toMatchObject(query)
    await page.locator('.answer[aria-busy=false]').waitFor()
    const { results } = await web.api<{ results: readonly Row[] }>('POST', `/api/projects/${web.demo}/query/`, { query: await asked() })
    expect(results.length).toBeGreaterThan(0)
    return results
  }
  const cells = async (table: Locator) => {
    const rows = await table.locator('tbody tr').all()
    return Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()))
  }
  /** Of the whole range: people do not add up. */
  const totalsOf = async (rows: readonly Row[]): Promise<readonly string[]> => {
    const query = await asked()
    const whole = { ...query, trendsFilter: { ...(query.trendsFilter as object), display: 'ActionsTable' } }
    const { results } = await web.api<{ results: readonly Row[] }>('POST', `/api/projects/${web.demo}/query/`, { query: whole })
    const keyOf = ({ order, breakdown_value, compare_label }: Row) => JSON.stringify([order, breakdown_value, compare_label])
    const found = new Map(results.map((row) => [keyOf(row), row.aggregated_value]))
    return rows.map((row) => (found.has(keyOf(row)) ? shown(found.get(keyOf(row))!) : '–'))
  }
  const shown = (value: number) => new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }).format(value)
  const people = async () => {
    const dialog = page.getByRole('dialog')
    await dialog.locator('.people tr').or(dialog.getByText('Nobody')).first().waitFor()
    const count = await dialog.locator('.people tr').count()
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    return count
  }
  const numbers = () => page.getByRole('region', { name: 'Numbers' })
  const percentOf = (part: number, whole: number) => `${Number(((100 * part) / whole).toFixed(1))}%`

  test('trends: maths, a renamed and a copied series, filters with suggested values, groups, a breakdown', async () => {
    await open('trends')
    await type('Event A', 'purchase')
    await choose('What is counted in A', 'sum')
    await page.getByText('Choose the property whose numbers A takes.').waitFor()
    await type('Property with numbers of A', '$revenue')
    await press('Rename A')
    await type('Name of A', 'Revenue')
    await press('Duplicate A')
    await choose('What is counted in B', 'unique_group:0')
    await choose('Interval', 'week')
    await choose('Comparison with another time', 'previous')
    const rows = await answerTo({
      kind: 'TrendsQuery',
      interval: 'week',
      compareFilter: { compare: true },
      series: [
        { event: 'purchase', math: 'sum', math_property: '$revenue', custom_name: 'Revenue' },
        { event: 'purchase', math: 'unique_group', math_group_type_index: 0 },
      ],
    })
    await openNumbers(page)
    const totals = await totalsOf(rows)
    await expect
      .poll(() => cells(numbers()))
      .toEqual(
        rows.map(({ data, compare_label }, row) => [
          `Revenue${compare_label === 'previous' ? ' (previous)' : ''}`,
          totals[row],
          // The time before has fewer weeks.
          ...Array.from({ length: Math.max(...rows.map((row) => row.data.length)) }, (_, i) => (i < data.length ? shown(data[i]!) : '–')),
        ]),
      )

    // A filter: the values of the property are suggested.
    const only = page.getByRole('group', { name: 'Who' })
    await only.getByRole('button', { name: 'Add a filter' }).click()
    await type('Property', '$browser')
    await page.getByLabel('Value', { exact: true }).click()
    await only.getByRole('option', { name: 'Firefox' }).waitFor()
    await type('Value', 'Firefox')
    await type('Value', 'Chrome')
    await press('+ Add a group')
    const second = page.getByRole('group', { name: 'Group 2' })
    await second.getByRole('button', { name: 'Add a filter' }).click()
    await second.getByLabel('Property', { exact: true }).fill('$screen_width')
    await second.getByLabel('Property', { exact: true }).press('Enter')
    // Numbers are compared as numbers.
    await expect.poll(() => second.getByLabel('Comparison').locator('option').allTextContents()).toContain('between')
    await second.getByLabel('Comparison').selectOption('between')
    await second.getByLabel('From', { exact: true }).fill('500')
    await second.getByLabel('To', { exact: true }).fill('1500')
    await second.getByLabel('To', { exact: true }).press('Enter')
    await page.getByLabel('How the groups are joined').selectOption('OR')
    await answerTo({
      properties: {
        type: 'OR',
        values: [
          { type: 'AND', values: [{ key: '$browser', type: 'event', operator: 'exact', value: ['Firefox', 'Chrome'] }] },
          { type: 'AND', values: [{ key: '$screen_width', type: 'event', operator: 'between', value: [500, 1500] }] },
        ],
      },
    })

    await choose('Comparison with another time', '')
    await press('Remove B')
    await press('+ Add a breakdown')
    await type('Property of the breakdown', '$browser')
    await press('+ Add a breakdown')
    await page.getByLabel('Property of the breakdown').last().fill('plan')
    await page.getByRole('group', { name: 'Person properties' }).getByRole('option', { name: 'plan' }).click()
    const split = await answerTo({
      breakdownFilter: {
        breakdowns: [
          { property: '$browser', type: 'event' },
          { property: 'plan', type: 'person' },
        ],
      },
    })
    await expect.poll(async () => (await cells(numbers())).map(([, total]) => total)).toEqual(split.map(({ count }) => shown(count)))
    expect(await accessibilityFindings(page)).toEqual([])
  })

  test('trends: each display has the numbers of the API', async () => {
    await open('trends')
    await type('Event A', '$pageview')
    await choose('What is counted in A', 'dau')
    await press('+ Add a breakdown')
    await type('Property of the breakdown', '$geoip_country_code')
    await expect.poll(asked).toHaveProperty('breakdownFilter')
    const options = await page
      .getByLabel('Chart', { exact: true })
      .locator('option')
      .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value))
    expect(options).toContain('WorldMap')
    for (const display of options.filter((one) => one !== 'CalendarHeatmap' && one !== 'BoxPlot')) {
      await choose('Chart', display)
      const rows = await answerTo({ trendsFilter: { display } })
      const result = page.locator('.answer[aria-busy=false] .result')
      if (display === 'WorldMap') {
        const sorted = [...rows].sort((a, b) => b.aggregated_value - a.aggregated_value)
        await expect
          .poll(async () => (await cells(page.getByRole('region', { name: 'Countries' }))).map(([, value]) => value))
          .toEqual(sorted.map(({ aggregated_value }) => shown(aggregated_value)))
        expect(await accessibilityFindings(page)).toEqual([])
        // To the second country by keys, and its people by Enter.
        const map = page.getByRole('slider', { name: /^World map/ })
        await map.focus()
        await map.press('ArrowRight')
        await map.press('ArrowRight')
        await expect.poll(() => map.getAttribute('aria-valuetext')).toMatch(new RegExp(`: ${sorted[1]!.aggregated_value}$`))
        await map.press('Enter')
        expect(await people()).toBe(Math.min(50, sorted[1]!.aggregated_value))
        // A click on its shape lists the same.
        const at = rows.indexOf(sorted[1]!)
        await map.locator(`[data-pick="${at}"]`).dispatchEvent('click')
        expect(await people()).toBe(Math.min(50, sorted[1]!.aggregated_value))
        continue
      }
      const closed = result.locator('details:not([open])', { hasText: 'Numbers' }).locator('summary')
      await expect
        .poll(
          async () => {
            // The chart before this one may still be shown, open.
            if (await closed.isVisible()) await closed.click()
            return (await cells(numbers())).map(([, total]) => total)
          },
          { message: display },
        )
        .toEqual(await totalsOf(rows))
      if (['ActionsPie', 'ActionsBarValue'].includes(display)) {
        await result.locator('svg [data-pick="0"]').first().dispatchEvent('click')
        expect(await people(), display).toBe(Math.min(50, rows[0]!.aggregated_value))
      }
    }
    await choose('Chart', 'CalendarHeatmap')
    const [week] = await answerTo({ trendsFilter: { display: 'CalendarHeatmap' } })
    expect((await asked()).breakdownFilter).toBeUndefined()
    const { data } = week!.calendar_heatmap_data
    const cell = data.find(({ value }) => value > 0)!
    await page.locator(`.result svg [data-pick="${cell.row - 1} ${cell.column}"]`).dispatchEvent('click')
    expect(await people()).toBe(Math.min(50, cell.value))
  })

  test('a funnel: steps, times, who left, and a person with a timeline', async () => {
    await open('funnel')
    await type('Event 1', '$pageview')
    await type('Event 2', 'product added')
    await press('+ Add a step')
    await type('Event 3', 'purchase')
    const steps = (await answerTo({
      kind: 'FunnelsQuery',
      series: [{ event: '$pageview' }, { event: 'product added' }, { event: 'purchase' }],
    })) as unknown as { count: number; median_conversion_time: number | null }[]
    const table = page.getByRole('region', { name: 'Steps' })
    await expect.poll(async () => (await cells(table)).map(([, reached]) => reached)).toEqual(steps.map(({ count }) => shown(count)))
    expect((await cells(table))[2]![4]).toMatch(/\d+(\.\d)?[smhd]/)
    await table.locator('tbody tr').nth(2).getByRole('button').nth(1).click()
    const lost = steps[1]!.count - steps[2]!.count
    expect(await people()).toBe(Math.min(50, lost))
    // A click on the bar of the last step, then on a person.
    await page.locator('.result svg [data-pick="0 2"]').dispatchEvent('click')
    await page.getByRole('dialog', { name: 'Reached purchase' }).locator('.people tr').first().getByRole('link').click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText('purchase').first().waitFor()
    expect(page.url()).toContain('/people/')

    // Beside each number that of the period before: its own steps, its own losses.
    await open('funnel')
    await choose('Comparison with another time', 'previous')
    const both = (await answerTo({ compareFilter: { compare: true } })) as unknown as { count: number; compare_label: string }[]
    const left = (period: string) => {
      const counts = both.filter(({ compare_label }) => compare_label === period).map(({ count }) => count)
      return counts.map((count, i) => (i === 0 ? '–' : shown(counts[i - 1]! - count)))
    }
    await expect
      .poll(async () => (await cells(table)).map(([name, , lost]) => [/^\d+/.exec(name!)![0], lost!.split(' ')[0]]))
      .toEqual([...left('current'), ...left('previous')].map((lost, i) => [String((i % 2) + 1), lost]))

    await open('funnel')
    await press('Conversion over time')
    await answerTo({ funnelsFilter: { funnelVizType: 'trends' } })
    await page.getByRole('slider').waitFor()
    await press('Time to convert')
    await type('Event 2', 'purchase')
    await page.locator('.answer[aria-busy=false] .result svg[role=img]').waitFor()
    expect(await page.getByRole('region', { name: 'Answer' }).getByRole('alert').count()).toBe(0)
    await choose('Comparison with another time', 'previous')
    await page.locator('.result .legend').getByText('Conversions (previous)').waitFor()
    const { results, compare_results: before } = await web.api<
      Record<'results' | 'compare_results', { bins: readonly (readonly number[])[] }>
    >('POST', `/api/projects/${web.demo}/query/`, { query: await asked() })
    await openNumbers(page)
    await expect
      .poll(async () => (await cells(numbers())).map(([, ...counts]) => counts))
      .toEqual(results.bins.map(([, count], i) => [shown(count!), shown(before.bins[i]?.[1] ?? 0)]))
  })

  test('the people behind the numbers of the previous period: a funnel, a trend, hours of the week, boxes, a stickiness', async () => {
    const listed = async (click: () => Promise<void>, title: RegExp) => {
      const [request] = await Promise.all([page.waitForRequest((one) => one.postData()?.includes('ActorsQuery') ?? false), click()])
      await page.getByRole('dialog', { name: title }).waitFor()
      const { source } = (JSON.parse(request.postData()!) as { query: { source: Record<string, unknown> } }).query
      return { people: await people(), compare: source.compare }
    }
    const ofPrevious = (count: number) => ({ people: Math.min(50, count), compare: 'previous' })
    const rowOf = (name: string) => page.getByRole('row', { name: new RegExp(name.replaceAll(/[$()]/g, '\\$&')) })

    await open('funnel')
    await type('Event 2', 'purchase')
    await choose('Comparison with another time', 'previous')
    const steps = (await answerTo({ compareFilter: { compare: true }, series: [{}, { event: 'purchase' }] })).filter(
      ({ compare_label }) => compare_label === 'previous',
    )
    const [began, bought] = steps.map(({ count }) => count)
    expect(bought).toBeGreaterThan(0)
    const row = rowOf('2. purchase (previous)')
    const [reached, left] = [0, 1].map((i) => () => row.getByRole('button').nth(i).click())
    expect(await listed(reached!, /^Reached purchase \(previous\)$/)).toEqual(ofPrevious(bought!))
    expect(await listed(left!, /^Dropped off before purchase \(previous\)$/)).toEqual(ofPrevious(began! - bought!))
    const bar = () => page.locator('.result svg [data-pick="1 1"]').dispatchEvent('click')
    expect(await listed(bar, /^Reached purchase \(previous\)$/)).toEqual(ofPrevious(bought!))

    // By a breakdown: those of one value.
    await press('+ Add a breakdown')
    await type('Property of the breakdown', '$browser')
    const split = (await answerTo({ breakdownFilter: {} })) as unknown as (Row & { breakdown_value: string[] })[][]
    const ofValue = split.find(([first]) => first!.compare_label === 'previous' && first!.count > 0)!
    const [value] = [ofValue[0]!.breakdown_value].flat()
    const firstOf = () => rowOf(`1. Pageview (${value}) (previous)`).getByRole('button').first().click()
    expect(await listed(firstOf, /\(previous\)$/)).toEqual(ofPrevious(ofValue[0]!.count))

    // Conversion over time: the numbers of both periods, and who converted on a day of the previous one.
    await open('funnel')
    await type('Event 2', 'purchase')
    await press('Conversion over time')
    await choose('Comparison with another time', 'previous')
    const lines = await answerTo({ funnelsFilter: { funnelVizType: 'trends' }, compareFilter: { compare: true } })
    await openNumbers(page)
    await expect
      .poll(async () => (await cells(numbers())).map(([name, ...shares]) => [name, shares.length]))
      .toEqual([
        ['Conversion', lines[0]!.data.length],
        ['Conversion (previous)', lines[0]!.data.length],
      ])
    const onDay = () => numbers().getByRole('row').nth(2).getByRole('button').first().click()
    const converted = await listed(onDay, /^Converted, .* \(previous\)$/)
    expect(converted.compare).toBe('previous')
    expect(converted.people).toBeGreaterThan(0)

    await open('trends')
    await type('Event A', 'purchase')
    await choose('What is counted in A', 'dau')
    await choose('Comparison with another time', 'previous')
    const trend = (await answerTo({ compareFilter: { compare: true }, series: [{ event: 'purchase', math: 'dau' }] }))[1]!
    await openNumbers(page)
    const at = trend.data.findIndex((count) => count > 0)
    const cell = () =>
      numbers()
        .getByRole('row')
        .nth(2)
        .locator('td')
        .nth(2 + at)
        .getByRole('button')
        .click()
    expect(await listed(cell, /^Unique people: purchase \(previous\), /)).toEqual(ofPrevious(trend.data[at]!))

    // Hours of the week keep the comparison: seven rows below the first seven.
    await choose('Chart', 'CalendarHeatmap')
    const week = (await answerTo({ compareFilter: { compare: true }, trendsFilter: { display: 'CalendarHeatmap' } }))[1]!
    expect(week.compare_label).toBe('previous')
    const hour = week.calendar_heatmap_data.data.find(({ value }) => value > 0)!
    const inHour = () => page.locator(`.result svg [data-pick="${hour.row + 6} ${hour.column}"]`).dispatchEvent('click')
    expect(await listed(inHour, /^Unique people: purchase \(previous\), [A-Z][a-z]{2} at \d+:00$/)).toEqual(ofPrevious(hour.value))

    // A box of the previous period, by a click on it and from the table.
    await choose('What is counted in A', 'avg')
    await type('Property with numbers of A', '$revenue')
    await choose('Chart', 'BoxPlot')
    await expect.poll(asked).toMatchObject({ compareFilter: { compare: true }, trendsFilter: { display: 'BoxPlot' } })
    // What it would refuse is not offered.
    for (const name of ['+ Add a formula', '+ Add a breakdown']) await expect.poll(() => page.getByRole('button', { name }).count()).toBe(0)
    await page.locator('.answer[aria-busy=false] .result svg title').first().waitFor({ state: 'attached' })
    const plot = { query: await asked() }
    const { boxplot_data: boxes } = await web.api<{ boxplot_data: readonly { day: string; compare_label: string; count: number }[] }>(
      'POST',
      `/api/projects/${web.demo}/query/`,
      plot,
    )
    // A day without a number has no box, in the picture and in its table.
    const box = boxes.findIndex(({ compare_label, count }) => compare_label === 'previous' && count > 0)
    const source = { kind: 'InsightActorsQuery', source: plot.query, day: boxes[box]!.day, series: 0, compare: 'previous' }
    const { results: behind } = await web.api<{ results: readonly unknown[] }>('POST', `/api/projects/${web.demo}/query/`, {
      query: { kind: 'ActorsQuery', source, select: ['id'] },
    })
    expect(behind.length).toBeGreaterThan(0)
    const onBox = () => page.locator(`.result svg [data-pick="${box}"]`).dispatchEvent('click')
    expect(await listed(onBox, /^purchase \(previous\), /)).toEqual(ofPrevious(behind.length))
    await openNumbers(page)
    expect((await cells(numbers())).length).toBe(boxes.filter(({ count }) => count > 0).length)
    const fromTable = () =>
      numbers()
        .getByRole('button', { name: /: purchase \(previous\)$/ })
        .first()
        .click()
    expect(await listed(fromTable, /^purchase \(previous\), /)).toEqual(ofPrevious(behind.length))
    expect(await accessibilityFindings(page)).toEqual([])

    await open('stickiness')
    await type('Event A', 'purchase')
    await choose('Comparison with another time', 'previous')
    const sticky = (await answerTo({ compareFilter: { compare: true }, series: [{ event: 'purchase' }] }))[1]!
    await openNumbers(page)
    const last = sticky.data.findLastIndex((count) => count > 0)
    const most = () => numbers().getByRole('row').nth(2).getByRole('button').last().click()
    expect(await listed(most, /\(previous\), /)).toEqual(ofPrevious(sticky.data[last]!))
  })

  test('a retention: each cell, and its people', async () => {
    await open('retention')
    await type('Event of the start', '$pageview')
    await type('Event of the return', 'purchase')
    await choose('Period', 'Week')
    const rows = await answerTo({
      retentionFilter: { period: 'Week', targetEntity: { id: '$pageview' }, returningEntity: { id: 'purchase' } },
    })
    const table = page.getByRole('region', { name: 'Retention' })
    await expect
      .poll(async () => (await cells(table)).map(([, ...texts]) => texts))
      .toEqual(
        rows.map(({ values }, row) => [
          shown(values[0]!.count),
          // The last row has just begun: what is after it is to come.
          ...values.map(({ count }, i) =>
            row + i >= rows.length ? '' : values[0]!.count === 0 ? '–' : percentOf(count, values[0]!.count),
          ),
        ]),
      )
    const [began, returned] = [0, 1].map((i) => rows.slice(0, -1).reduce((sum, { values }) => sum + values[i]!.count, 0))
    expect(await table.locator('thead tr.mean td').nth(2).textContent()).toBe(percentOf(returned!, began!))
    const at = rows.findIndex(({ values }) => (values[1]?.count ?? 0) > 0)
    await table.locator('tbody tr').nth(at).locator('td').nth(2).getByRole('button').click()
    expect(await people()).toBe(Math.min(50, rows[at]!.values[1]!.count))
  })

  test('a compared retention and compared paths: the rows of both periods, and their people', async () => {
    await open('retention')
    await type('Event of the start', '$pageview')
    await type('Event of the return', '$pageview')
    await chooseDates(page, 'Last 7 days')
    await choose('Comparison with another time', 'previous')
    const rows = await answerTo({ compareFilter: { compare: true }, dateRange: { date_from: '-7d' } })
    const table = page.getByRole('region', { name: 'Retention' })
    const isPrevious = (name: string | undefined) => name!.endsWith(' (previous)')
    await expect
      .poll(async () => (await cells(table)).map(([name, size]) => [isPrevious(name), size]))
      .toEqual(rows.map(({ compare_label, values }) => [compare_label === 'previous', shown(values[0]!.count)]))
    expect(await table.locator('thead tr.mean th').allInnerTexts()).toEqual(['All', 'All (previous)'])
    // Both periods have as many cells: those behind the end of their own one are empty.
    const filled = (await cells(table)).map(([, , ...texts]) => texts.filter((text) => text !== '').length)
    expect(filled.slice(filled.length / 2)).toEqual(filled.slice(0, filled.length / 2))
    const at = rows.findIndex(({ compare_label, values }) => compare_label === 'previous' && (values[1]?.count ?? 0) > 0)
    expect(at).toBeGreaterThan(0)
    await table.locator('tbody tr').nth(at).locator('td').nth(2).getByRole('button').click()
    await page.getByRole('dialog', { name: /\(previous\)/ }).waitFor()
    expect(await people()).toBe(Math.min(50, rows[at]!.values[1]!.count))

    await open('paths')
    await page.getByLabel('Custom events').check()
    await choose('Comparison with another time', 'previous')
    const edges = await answerTo({ compareFilter: { compare: true } })
    const keys = new Set(edges.map((edge) => JSON.stringify([edge.source, edge.target])))
    await openNumbers(page)
    await expect.poll(async () => (await cells(numbers())).length).toBe(keys.size)
    const both = [...keys].findIndex((key) => edges.filter((edge) => JSON.stringify([edge.source, edge.target]) === key).length === 2)
    const value = (label: string) =>
      edges.find((edge) => edge.compare_label === label && JSON.stringify([edge.source, edge.target]) === [...keys][both])!.value
    expect((await cells(numbers()))[both]!.slice(3, 5)).toEqual([shown(value('current')), shown(value('previous'))])
    await numbers().locator('tbody tr').nth(both).getByRole('button').nth(1).click()
    await page.getByRole('dialog', { name: /\(previous\)/ }).waitFor()
    expect(await people()).toBeGreaterThan(0)
  })

  test('paths, stickiness and lifecycle', async () => {
    await open('paths')
    await page.getByLabel('Custom events').check()
    await type('Left out', '$pageleave')
    const edges = await answerTo({
      pathsFilter: { includeEventTypes: ['$pageview', 'custom_event'], excludeEvents: ['$pageleave'] },
    })
    await openNumbers(page)
    await expect.poll(async () => (await cells(numbers())).map((row) => row[3])).toEqual(edges.map(({ value }) => shown(value)))
    await page.locator('.result svg [data-mark="edge 0"]').dispatchEvent('click')
    expect(await people()).toBeGreaterThan(0)

    await open('stickiness')
    await type('Event A', 'product added')
    const [stickiness] = await answerTo({ kind: 'StickinessQuery', series: [{ event: 'product added' }] })
    await openNumbers(page)
    await expect.poll(async () => (await cells(numbers()))[0]!.slice(1)).toEqual(stickiness!.data.map(shown))
    const most = stickiness!.data.findLastIndex((value) => value > 0)
    await numbers().getByRole('row').nth(1).getByRole('button').last().click()
    expect(await people()).toBe(Math.min(50, stickiness!.data[most]!))

    await open('lifecycle')
    await type('Event A', '$pageview')
    await page.getByRole('checkbox', { name: 'Dormant' }).uncheck()
    const life = await answerTo({ lifecycleFilter: { toggledLifecycles: ['new', 'returning', 'resurrecting'] } })
    await openNumbers(page)
    await expect.poll(() => cells(numbers())).toEqual(life.map(({ status, data }) => [status, ...data.map(shown)]))
    await numbers().getByRole('row').nth(1).getByRole('button').last().click()
    expect(await people()).toBe(Math.min(50, life[0]!.data[life[0]!.data.findLastIndex((value) => value > 0)]!))
  })

  test('a query is copied, pasted, and refused if it is not one', async () => {
    await open('trends')
    await press('Query')
    const dialog = page.getByRole('dialog', { name: 'The query' })
    const text = dialog.getByLabel('Query as JSON')
    expect(JSON.parse(await text.inputValue())).toMatchObject({ kind: 'TrendsQuery' })
    await text.fill('{"kind": "TrendsQuery"')
    await dialog.getByRole('button', { name: 'Use this query' }).click()
    await dialog.getByRole('alert').getByText('This is not the JSON of a query.').waitFor()
    await text.fill('{"kind": "HogQLQuery", "query": "select 1"}')
    await dialog.getByRole('button', { name: 'Use this query' }).click()
    await dialog.getByRole('alert').getByText('the kind is HogQLQuery').waitFor()
    const pasted = {
      kind: 'InsightVizNode',
      source: { kind: 'RetentionQuery', retentionFilter: { period: 'Week', totalIntervals: 4 }, dateRange: { date_from: '-4w' } },
    }
    await text.fill(JSON.stringify(pasted))
    await dialog.getByRole('button', { name: 'Use this query' }).click()
    await answerTo(pasted.source)
    expect(await page.getByLabel('How many periods').inputValue()).toBe('4')
  })
})
