import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { pageHeaders, sharedPage } from '../../../src/service/sharing/page.ts'
import type { SharedInsight, SharedView } from '../../../src/service/sharing/shared-view.ts'
import { widthsBetween } from '../../../src/service/sharing/tile-picture.ts'
import { parseXml, type XmlElement } from '../../harness/xml.ts'
import { samples } from '../pictures/samples.ts'

// The page of a public link, for every picture that there is.

const insight = (name: string, tile = 0, layouts: unknown = {}): SharedInsight => ({
  id: 1,
  tile,
  name,
  description: '',
  kind: 'TrendsQuery',
  query: samples[name]!.query,
  answer: samples[name]!.answer as Record<string, unknown>,
  error: null,
  layouts,
})
const view = (tiles: SharedView['tiles'], type: SharedView['type'] = 'dashboard'): SharedView => ({
  type,
  name: 'Board',
  description: '',
  timezone: 'UTC',
  computedAt: new Date('2026-01-05T10:00:00Z'),
  size: 0,
  tiles,
})
const bodyOf = (html: string): XmlElement => parseXml(/<main>[\s\S]*<\/main>/.exec(html)![0])

function* within(element: XmlElement): Generator<XmlElement> {
  yield element
  for (const child of element.children) if (typeof child !== 'string') yield* within(child)
}
const named = (element: XmlElement, name: string): XmlElement[] => [...within(element)].filter((one) => one.name === name)
const textOf = (element: XmlElement): string =>
  element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('')

/** Kinds without shapes that have a number of their own. */
const withoutTips = new Set(['number', 'nothing', 'correlation', 'rows of objects', 'statement', 'a map without countries'])

describe('the picture of an answer', () => {
  test.each(Object.keys(samples))(
    '%s: every tip is a row of its numbers, no text is small, and nothing is larger than the page allows',
    async (name) => {
      const { html } = await sharedPage(view([insight(name)]), { hasHeader: true })
      const main = bodyOf(html)
      const [table] = named(main, 'table')
      const heads = table ? named(table, 'th').map(textOf) : []
      const rows = table ? named(named(table, 'tbody')[0]!, 'tr').map((row) => named(row, 'td').map(textOf)) : []
      const pictures = named(main, 'svg')
      const tips = pictures.map((svg) => [...within(svg)].flatMap(({ attributes }) => attributes.get('data-tip') ?? []))
      for (const tip of tips.flat()) {
        const [row, column] = tip.split(' ').map(Number)
        expect(rows[row!], tip).toBeDefined()
        if (column !== undefined) expect(heads[column], tip).toBeDefined()
      }
      // The same values in every width.
      for (const one of tips) expect(new Set(one)).toEqual(new Set(tips[0]))
      if (withoutTips.has(name)) expect(tips.flat()).toEqual([])
      else expect(new Set(tips[0]).size).toBeGreaterThan(1)
      for (const svg of pictures) {
        const sizes = named(svg, 'text').map(({ attributes }) => Number(attributes.get('font-size')))
        expect(Math.min(12, ...sizes)).toBeGreaterThanOrEqual(11)
        expect([...within(svg)].some(({ attributes }) => attributes.has('data-pick'))).toBe(false)
      }
      expect(/<main>[\s\S]*<\/main>/.exec(html)![0]).not.toMatch(/ on\w+=| style=|NaN|undefined/)
    },
  )

  test('a cell of a grid is told with its row and its column', async () => {
    const main = bodyOf((await sharedPage(view([insight('hours of the week')]), { hasHeader: true })).html)
    const [table] = named(main, 'table')
    const cells = named(named(table!, 'tbody')[0]!, 'tr').map((row) => named(row, 'td').map(textOf))
    const [svg] = named(main, 'svg')
    const shapes = [...within(svg!)].filter(({ attributes }) => attributes.has('data-tip'))
    const texts = named(svg!, 'text').map(textOf)
    for (const { attributes } of shapes) {
      const [row, column] = attributes.get('data-tip')!.split(' ').map(Number)
      expect(texts).toContain(cells[row!]![column!])
    }
  })
})

describe('the policy of the page', async () => {
  const page = await sharedPage(view([insight('lines', 1), insight('pie', 2)]), { hasHeader: true })
  const policy = pageHeaders(page, false)['content-security-policy']!
  test('allows its styles and its one script by their hashes, and loads nothing', () => {
    const hashes = (name: string) =>
      [...page.html.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(
        ([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`,
      )
    expect(hashes('script')).toHaveLength(1)
    expect(policy).toContain(`script-src ${hashes('script')[0]}; style-src ${hashes('style').join(' ')};`)
    expect(policy).toMatch(/^default-src 'none'; /)
    expect(page.html.match(/<script/g)).toHaveLength(1)
  })

  test('gives it an origin of its own, and lets only the embedded one into frames', () => {
    expect(policy).toContain('sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox;')
    expect(policy).toMatch(/frame-ancestors 'none'$/)
    expect(pageHeaders(page, true)['content-security-policy']).toMatch(/frame-ancestors \*$/)
  })
})

describe('a dashboard', () => {
  test('tiles have the places of their layouts, in the order of reading', async () => {
    const at = (x: number, y: number, w: number, h: number) => ({ sm: { x, y, w, h } })
    const { layout, html } = await sharedPage(
      view([
        insight('pie', 7, at(6, 0, 6, 5)),
        { tile: 3, text: '# Hello\n\nworld', layouts: at(0, 5, 12, 2) },
        insight('lines', 5, at(0, 0, 6, 5)),
      ]),
      { hasHeader: true },
    )
    expect(layout).toContain(
      '#tile-2{grid-area:1/1/span 5/span 6}#tile-0{grid-area:1/7/span 5/span 6}#tile-1{grid-area:6/1/span 2/span 12}',
    )
    expect(layout).toContain(
      '@container page (max-width:639.98px){#tile-2{grid-area:1/1/span 4/span 12}#tile-0{grid-area:5/1/span 4/span 12}#tile-1{grid-area:9/1/span 2/span 12}}',
    )
    const sections = named(bodyOf(html), 'section')
    expect(sections.map((one) => one.attributes.get('id'))).toEqual(['tile-2', 'tile-0', 'tile-1'])
    expect(named(sections[2]!, 'h2').map(textOf)).toEqual(['Hello'])
  })

  test('texts have only links to sites', async () => {
    const { html } = await sharedPage(
      view([{ tile: 1, text: '[a](https://a.test/x) [b](javascript:alert(1)) <img src=x>', layouts: {} }]),
      {
        hasHeader: true,
      },
    )
    expect(named(bodyOf(html), 'a').map(({ attributes }) => attributes.get('href'))).toEqual(['https://a.test/x'])
    expect(html).toContain('&lt;img src=x&gt;')
  })

  test('many pictures have one width, so that a page has a largest size, and others have their turn between them', async () => {
    const tiles = Array.from({ length: 60 }, (_, i) => insight('a world map', i))
    let turns = 0
    let isMade = false
    const count = () => {
      turns++
      if (!isMade) setImmediate(count)
    }
    setImmediate(count)
    const { html } = await sharedPage(view(tiles), { hasHeader: true })
    isMade = true
    expect(turns).toBeGreaterThan(2)
    expect(html.length).toBeLessThan(10 * 1024 ** 2)
    expect(html.match(/<svg/g)!.length).toBeGreaterThanOrEqual(2 * 60)
  })
})

test.each([
  [100, 200, [170]],
  [170, 219, [170]],
  [300, 390, [290, 380]],
  [285, 600, [220, 290, 380, 500]],
])('from %s to %s pixels these pictures fit', (from, to, widths) => {
  expect(widthsBetween([170, 220, 290, 380, 500, 650], from, to)).toEqual(widths)
})
