import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, settled, type Web } from './browser.ts'

// What strangers see of shared dashboards and insights: in frames of other sites, on the grid of the dashboard, on a phone, with the pointer and the keyboard.

const visits = { kind: 'EventsNode', event: '$pageview', name: '$pageview' }
const buys = { kind: 'EventsNode', event: 'purchase', name: 'purchase' }
const trend = (display: string, more: object = {}) => ({
  kind: 'InsightVizNode',
  source: { kind: 'TrendsQuery', series: [visits], dateRange: { date_from: '-14d' }, trendsFilter: { display }, ...more },
})
const byBrowser = { breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' } }
const queries: Readonly<Record<string, object>> = {
  Lines: trend('ActionsLineGraph', byBrowser),
  Bars: trend('ActionsBar', byBrowser),
  Totals: trend('ActionsBarValue', byBrowser),
  Pie: trend('ActionsPie', byBrowser),
  Big: trend('BoldNumber'),
  Hours: trend('CalendarHeatmap'),
  Map: trend('WorldMap', { breakdownFilter: { breakdown: '$geoip_country_code', breakdown_type: 'event' } }),
  Funnel: { kind: 'InsightVizNode', source: { kind: 'FunnelsQuery', series: [visits, buys], dateRange: { date_from: '-14d' } } },
  Retention: {
    kind: 'InsightVizNode',
    source: {
      kind: 'RetentionQuery',
      dateRange: { date_from: '-14d' },
      retentionFilter: {
        period: 'Day',
        totalIntervals: 11,
        targetEntity: { id: '$pageview', type: 'events' },
        returningEntity: { id: '$pageview', type: 'events' },
      },
    },
  },
  Paths: {
    kind: 'InsightVizNode',
    source: { kind: 'PathsQuery', dateRange: { date_from: '-14d' }, pathsFilter: { includeEventTypes: ['$pageview'] } },
  },
  Rows: {
    kind: 'DataTableNode',
    source: { kind: 'HogQLQuery', query: 'select event, count() as times from events group by event order by times desc' },
  },
}
/** A wide one, three beside each other, and below them two by two; the others have no place yet. */
const places: Readonly<Record<string, readonly [x: number, y: number, w: number, h: number]>> = {
  Lines: [0, 0, 12, 5],
  Big: [0, 5, 4, 3],
  Pie: [4, 5, 4, 5],
  Totals: [8, 5, 4, 4],
  Funnel: [0, 10, 6, 6],
  Bars: [6, 10, 6, 4],
}

interface Box {
  readonly name: string
  readonly column: number
  readonly columns: number
  readonly top: number
  readonly height: number
}

describe.skipIf(!hasBrowser)('public pages in a browser', () => {
  let web: Web
  let site: Server
  let siteUrl: string
  let body = ''
  let board: { readonly id: number; readonly tiles: readonly { readonly id: number; readonly insight: { readonly name: string } }[] }
  const insights = new Map<string, { readonly id: number; readonly short_id: string }>()
  const base = () => `/api/projects/${web.demo}/`
  const share = async (path: string): Promise<string> => {
    const { access_token } = await web.api<{ access_token: string }>('PATCH', `${base()}${path}/sharing/`, { enabled: true })
    return access_token
  }
  const address = (kind: 'shared' | 'embedded', token: string) => `${web.facts.url}/${kind}/${token}`
  /** A page of another origin. */
  const framed = async (html: string, page: Page) => {
    body = html
    await page.goto(siteUrl)
    return page
  }
  const frameOf = async (page: Page): Promise<Frame> => (await (await page.locator('iframe').elementHandle())!.contentFrame())!

  beforeAll(async () => {
    web = await openWeb()
    site = createServer((_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html><title>Another site</title>${body}`)
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    // Another site than that of the server, which is 127.0.0.1.
    siteUrl = `http://localhost:${(site.address() as AddressInfo).port}/`
    const { id } = await web.api<{ id: number }>('POST', `${base()}dashboards/`, { name: 'Public', description: 'For all' })
    for (const [name, query] of Object.entries(queries))
      insights.set(name, await web.api('POST', `${base()}insights/`, { name, query, saved: true, dashboards: [id] }))
    const { tiles } = await web.api<typeof board>('GET', `${base()}dashboards/${id}/`)
    board = await web.api('PATCH', `${base()}dashboards/${id}/`, {
      tiles: tiles.flatMap(({ id: tile, insight }) => {
        const [x, y, w, h] = places[insight.name] ?? []
        return x === undefined ? [] : [{ id: tile, layouts: { sm: { x, y, w, h } } }]
      }),
    })
  })
  afterAll(async () => {
    await web.close()
    await new Promise((resolve) => site.close(resolve))
    // The frame that is refused is what the first test is about.
    // So is the request that it may not make.
    expect(web.complaints.filter((one) => !/frame-ancestors|X-Frame-Options|users\/@me/.test(one))).toEqual([])
  })

  test('another site shows the embedded page in a frame, and not the shared one', async () => {
    const token = await share(`insights/${insights.get('Lines')!.id}`)
    const page = await framed(`<iframe src="${address('embedded', token)}" width="700" height="520"></iframe>`, await web.signedIn())
    const inside = page.frameLocator('iframe')
    await inside.getByRole('heading', { name: 'Lines' }).waitFor()
    await inside.locator('svg:visible').waitFor()
    // Nothing in it belongs to whoever is signed in.
    const frame = await frameOf(page)
    expect(await frame.evaluate('self.origin')).toBe('null')
    expect(await frame.evaluate('try { document.cookie } catch (error) { error.name }')).toBe('SecurityError')
    expect(await frame.evaluate('try { localStorage.length } catch (error) { error.name }')).toBe('SecurityError')
    expect(await frame.evaluate(`fetch('${web.facts.url}/api/users/@me/').then(() => 'answered', (error) => error.name)`)).toBe('TypeError')
    await framed(`<iframe src="${address('shared', token)}" width="700" height="520"></iframe>`, page)
    const refused = await frameOf(page)
    await expect.poll(() => refused.url()).toMatch(/^chrome-error:/)
    await page.context().close()
  })

  test.each(['insight', 'statement', 'dashboard'])('the dialog of the interface has the link and the code of a frame: %s', async (what) => {
    const page = await web.signedIn()
    const paths: Readonly<Record<string, string>> = {
      insight: `insights/${insights.get('Bars')!.short_id}`,
      statement: `sql?insight=${insights.get('Rows')!.short_id}`,
      dashboard: `dashboards/${board.id}`,
    }
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${paths[what]}`)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    const code = page.getByLabel('Embed code')
    await code.waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    const html = await code.inputValue()
    const link = await page.getByRole('dialog').getByRole('link').textContent()
    expect(html).toContain(`src="${link!.replace('/shared/', '/embedded/')}"`)
    await page.getByText('The link above is refused there').waitFor()
    const other = await framed(html, await web.page())
    await other.frameLocator('iframe').locator('table, svg').first().waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Turn off link' }).click()
    await page.getByRole('button', { name: 'Create link' }).waitFor()
    const embedded = html.match(/src="([^"]*)"/)![1]!
    expect([(await fetch(link!)).status, (await fetch(embedded)).status]).toEqual([404, 404])
    await page.context().close()
    await other.context().close()
  })

  const boxes = (page: Page): Promise<Box[]> =>
    page.evaluate(() => {
      interface Rect {
        readonly left: number
        readonly top: number
        readonly width: number
        readonly height: number
      }
      interface Element {
        getBoundingClientRect(): Rect
        getAttribute(name: string): string | null
        querySelectorAll(selector: string): Iterable<Element>
      }
      const { document } = globalThis as unknown as { document: { querySelector(selector: string): Element } }
      const around = document.querySelector('.board')
      const { left, top, width } = around.getBoundingClientRect()
      const column = (width + 16) / 12
      return [...around.querySelectorAll('.tile')].map((tile) => {
        const box = tile.getBoundingClientRect()
        return {
          name: tile.getAttribute('aria-label')!,
          column: Math.round(((box.left - left) / column) * 100) / 100,
          columns: Math.round(((box.width + 16) / column) * 100) / 100,
          top: Math.round(box.top - top),
          height: Math.round(box.height),
        }
      })
    })

  test.each([
    [1440, 900],
    [390, 844],
  ])('tiles stand where they do in the interface, on a screen that is %s wide', async (width, height) => {
    const token = await share(`dashboards/${board.id}`)
    const [member, stranger] = [await web.signedIn({ width, height }), await web.page({ width, height })]
    await member.goto(`${web.facts.url}/#/project/${web.demo}/dashboards/${board.id}`)
    await member.getByRole('region', { name: 'Lines', exact: true }).waitFor()
    await stranger.goto(address('shared', token))
    const byName = (all: Box[]) => all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const shown = byName(await boxes(stranger))
    expect(shown).toEqual(byName(await boxes(member)))
    expect(shown).toHaveLength(Object.keys(queries).length)
    if (width > 640)
      expect(shown.find(({ name }) => name === 'Totals')).toMatchObject({ column: 8, columns: 4, top: 5 * 96, height: 4 * 96 - 16 })
    else expect(new Set(shown.map(({ column, columns }) => `${column} ${columns}`))).toEqual(new Set(['0 12']))
    await member.context().close()
    await stranger.context().close()
  })

  /** The smallest text of the page in pixels of the screen, and how far the page is wider than the screen. */
  const smallest = (page: Page) =>
    page.evaluate(() => {
      const { document, getComputedStyle, innerWidth } = globalThis as unknown as {
        document: { querySelectorAll(selector: string): Iterable<Shown>; documentElement: { scrollWidth: number } }
        getComputedStyle(element: unknown): { fontSize: string }
        innerWidth: number
      }
      interface Shown {
        readonly textContent: string
        readonly childElementCount: number
        readonly ownerSVGElement: (Shown & { readonly viewBox: { readonly baseVal: { readonly width: number } } }) | null
        getClientRects(): { readonly length: number }
        getBoundingClientRect(): { readonly width: number }
      }
      const sizes = [...document.querySelectorAll('main *')]
        .filter((one) => one.childElementCount === 0 && one.textContent.trim() !== '' && one.getClientRects().length > 0)
        .map((one) => {
          const svg = one.ownerSVGElement
          const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1
          return { size: Number.parseFloat(getComputedStyle(one).fontSize) * scale, text: one.textContent }
        })
      const [least] = sizes.sort((a, b) => a.size - b.size)
      return { ...least!, count: sizes.length, tooWide: document.documentElement.scrollWidth - innerWidth }
    })

  test.each([320, 390, 768, 1440])(
    'every text can be read on a screen that is %s wide, and only tiles are scrolled sideways',
    async (width) => {
      const page = await web.page({ width, height: 844 })
      for (const [path] of [[`dashboards/${board.id}`], ...[...insights.values()].map(({ id }) => [`insights/${id}`])]) {
        await page.goto(address('embedded', await share(path!)))
        await page.locator('footer').waitFor()
        const found = await smallest(page)
        expect(found.count).toBeGreaterThan(3)
        expect(found.size, `${path}: ${found.text}`).toBeGreaterThanOrEqual(11)
        expect(found.tooWide, path).toBeLessThanOrEqual(0)
        // One picture of a tile at a time.
        expect(
          await page
            .locator('.room')
            .evaluateAll((all) =>
              all.map(
                (room) =>
                  [
                    ...(
                      room as unknown as { querySelectorAll(selector: string): Iterable<{ getClientRects(): { length: number } }> }
                    ).querySelectorAll('svg'),
                  ].filter((svg) => svg.getClientRects().length > 0).length,
              ),
            ),
        ).toSatisfy((counts: number[]) => counts.every((count) => count === 1))
      }
      await page.context().close()
    },
  )

  test.each(['Lines', 'Bars', 'Totals', 'Pie', 'Hours', 'Map', 'Funnel', 'Retention', 'Paths'])(
    'a value of the picture is told by pointer and by keyboard: %s',
    async (name) => {
      const page = await web.page()
      await page.goto(address('shared', await share(`insights/${insights.get(name)!.id}`)))
      const slider = page.getByRole('slider')
      const tip = page.locator('.tip')
      expect(await tip.isVisible()).toBe(false)
      await page.getByText('Numbers', { exact: true }).click()
      const rows = await page
        .locator('tbody tr')
        .evaluateAll((all) =>
          all.map((row) => [...(row as unknown as { cells: Iterable<{ textContent: string }> }).cells].map((cell) => cell.textContent)),
        )
      const heads = await page.locator('thead th').allTextContents()
      const told = async (mark: string) => {
        const [row = 0, column] = mark.split(' ').map(Number)
        const cells = rows[row]!
        const pairs =
          column === undefined ? cells.slice(1, 13).map((text, i) => `${heads[i + 1]}: ${text}`) : [`${heads[column]}: ${cells[column]}`]
        return [cells[0], ...pairs]
      }
      const shown = () => tip.locator('> *').allTextContents()
      const marks = await page
        .locator('svg:visible [data-tip]')
        .evaluateAll((all) => all.map((one) => (one as unknown as { dataset: { tip: string } }).dataset.tip))
      expect(marks.length).toBeGreaterThan(1)
      // By pointer: a point of the shape that no other shape covers.
      const point = await page.evaluate(() => {
        const { document } = globalThis as unknown as {
          document: {
            querySelectorAll(
              selector: string,
            ): Iterable<{ dataset: { tip: string }; getBoundingClientRect(): { left: number; top: number; width: number; height: number } }>
            elementFromPoint(x: number, y: number): unknown
          }
        }
        for (const mark of document.querySelectorAll('[data-tip]')) {
          const { left, top, width, height } = mark.getBoundingClientRect()
          for (const [dx, dy] of [
            [0.5, 0.5],
            [0.1, 0.5],
            [0.5, 0.1],
            [0.9, 0.5],
            [0.5, 0.95],
          ] as const) {
            const [x, y] = [left + width * dx, top + height * dy]
            if (width > 0 && document.elementFromPoint(x, y) === mark) return { x, y, tip: mark.dataset.tip }
          }
        }
        return null
      })
      await page.mouse.move(point!.x, point!.y)
      await expect.poll(shown).toEqual(await told(point!.tip))
      await page.keyboard.press('Escape')
      await page.mouse.move(0, 0)
      await tip.waitFor({ state: 'hidden' })
      await slider.focus()
      await page.keyboard.press('ArrowRight')
      expect(await shown()).toEqual(await told(marks[0]!))
      await page.keyboard.press('ArrowRight')
      expect(await shown()).toEqual(await told(marks[1]!))
      expect(await slider.getAttribute('aria-valuetext')).toBe((await shown()).join(', '))
      await page.keyboard.press('End')
      expect(await shown()).toEqual(await told(marks.at(-1)!))
      await page.keyboard.press('Escape')
      expect(await tip.isVisible()).toBe(false)
      await page.context().close()
    },
  )

  test.each(['light', 'dark'] as const)('axe finds nothing serious: %s', async (colorScheme) => {
    const page = await web.page()
    await page.emulateMedia({ colorScheme })
    for (const path of [`dashboards/${board.id}`, `insights/${insights.get('Lines')!.id}`, `insights/${insights.get('Retention')!.id}`]) {
      await page.goto(address('shared', await share(path)))
      await settled(page)
      for (const summary of await page.locator('summary').all()) await summary.click()
      expect(await accessibilityFindings(page), path).toEqual([])
    }
    await page.context().close()
  })
})
