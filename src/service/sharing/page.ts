import { createHash } from 'node:crypto'
import { runInSlices } from '../../lib/flow/run-in-slices.ts'
import { columnCount, inOrder, type Placed } from '../pictures/grid.ts'
import { element, escaped, type Markup, render } from '../pictures/markup.ts'
import { readChart } from '../pictures/read-chart.ts'
import { pictureStyle } from '../pictures/style.ts'
import { chartHeight, placesOf, tileGap, wideBoard } from '../pictures/tile-places.ts'
import { tileText } from '../pictures/tile-text.ts'
import { pageScript } from './page-script.ts'
import { aroundPicture, mostOfBoard, narrowSteps, pageStyle, singleSteps, wideSteps } from './page-style.ts'
import type { SharedInsight, SharedView } from './shared-view.ts'
import { type Sizes, tilePicture, widthsBetween } from './tile-picture.ts'

// The page of a public link: HTML and pictures, and one script, which shows the numbers of a picture under the pointer.

export interface SharedPage {
  readonly html: string
  /** The places of its tiles. */
  readonly layout: string
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const ofEveryPage = `script-src ${hashOf(pageScript)}; style-src ${hashOf(pageStyle)} ${hashOf(pictureStyle)}`

/**
 * Nothing is loaded, and nothing runs but the script of the page, in an origin of its own: it has no session, no storage and no answers of this server. `isEmbedded`: other sites may show it in a
 * frame.
 */
export const pageHeaders = ({ layout }: Pick<SharedPage, 'layout'>, isEmbedded: boolean): Readonly<Record<string, string>> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `${ofEveryPage}${layout === '' ? '' : ` ${hashOf(layout)}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    // Links of texts open beside the page.
    'sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox',
    `frame-ancestors ${isEmbedded ? '*' : "'none'"}`,
  ].join('; '),
  'x-robots-tag': 'noindex, nofollow',
})

export interface PageOptions {
  /** Name and description. */
  readonly hasHeader: boolean
}

const singleHeight = 360
/** Of the line with the description of a tile. */
const aboutHeight = 24
/** Characters of a page. Pictures of further tiles have one width. */
const mostOfPage = 3 * 1024 ** 2

const areaOf = ({ x, y, w, h }: Placed) => `{grid-area:${y + 1}/${x + 1}/span ${h}/span ${w}}`

const inGrid = ({ w, h }: Placed, less: number): Sizes => {
  const room = (board: number) => ((board + tileGap) / columnCount) * w - tileGap - aroundPicture
  return { className: 'in-grid', widths: widthsBetween(wideSteps, room(wideBoard), room(mostOfBoard)), height: chartHeight(h) - less }
}
const oneColumn = ({ h }: Placed, less: number): Sizes => ({ className: 'one-column', widths: narrowSteps, height: chartHeight(h) - less })
const alone: Sizes = { className: 'alone', widths: singleSteps, height: singleHeight }

/** With one width, which every screen has room for. */
const plain = (sizes: Sizes): Sizes => ({ ...sizes, widths: sizes.widths.slice(0, 1) })

interface Shown {
  readonly title: string
  readonly about: string
  readonly timezone: string
  /** Undefined: the page is of this one alone. */
  readonly id?: string
  readonly sizes: readonly Sizes[]
}

function insightTile({ query, answer, error }: SharedInsight, { title, about, timezone, id, sizes }: Shown): Markup {
  const inside =
    answer === null
      ? [element('p', {}, error ?? 'There is no answer yet.')]
      : tilePicture(readChart(query, answer, timezone), title || 'Insight', sizes)
  return element(
    'section',
    { class: 'tile', id: id ?? null, 'aria-label': title || 'Insight' },
    title === '' ? [] : [element(id === undefined ? 'h1' : 'h2', {}, title)],
    about === '' ? [] : [element('p', { class: 'about' }, about)],
    element('div', { class: 'body', tabindex: 0, role: 'group', 'aria-label': `Answer: ${title || 'Insight'}` }, inside),
  )
}

interface Board {
  readonly markup: string
  readonly layout: string
}

/** Each step draws one tile. */
function* boardOf({ tiles, timezone }: SharedView, { hasHeader }: PageOptions): Generator<void, Board> {
  const known = tiles.map((one) => ({ id: one.tile, layouts: one.layouts, text: 'text' in one ? one.text : null }))
  const numbers = new Map(tiles.map(({ tile }, i) => [tile, i]))
  const [wide, narrow] = [placesOf(known, 'sm'), placesOf(known, 'xs')]
  const narrowOf = new Map(narrow.map((place) => [place.id, place]))
  let size = 0
  const section = (place: Placed): string => {
    const one = tiles[numbers.get(place.id)!]!
    const id = `tile-${numbers.get(place.id)}`
    if ('text' in one)
      return render(
        element(
          'section',
          { class: 'tile', id, 'aria-label': 'Text' },
          element('div', { class: 'body', tabindex: 0, role: 'group', 'aria-label': 'Text' }, tileText(one.text)),
        ),
      )
    const about = hasHeader ? one.description : ''
    const less = about === '' ? 0 : aboutHeight
    const sizes = [inGrid(place, less), oneColumn(narrowOf.get(place.id)!, less)]
    const made = render(
      insightTile(one, { title: one.name || 'Insight', about, timezone, id, sizes: size < mostOfPage ? sizes : sizes.map(plain) }),
    )
    size += made.length
    return made
  }
  const sections: string[] = []
  for (const place of inOrder(wide)) {
    yield
    sections.push(section(place))
  }
  const rules = (places: readonly Placed[]) => places.map((place) => `#tile-${numbers.get(place.id)}${areaOf(place)}`).join('')
  return {
    markup: `<div class="page"><div class="board">\n${sections.join('\n')}\n</div></div>`,
    layout: tiles.length === 0 ? '' : `${rules(wide)}@container page (max-width:${wideBoard - 0.02}px){${rules(narrow)}}`,
  }
}

const sliceMs = 10

/** Drawing a large dashboard takes a second: others have their turn between its tiles. */
export const sharedPage = (view: SharedView, options: PageOptions): Promise<SharedPage> => runInSlices(pageInParts(view, options), sliceMs)

function* pageInParts(view: SharedView, options: PageOptions): Generator<void, SharedPage> {
  const { type, name, description, timezone, computedAt, tiles } = view
  const { hasHeader } = options
  const [first] = tiles
  const { markup, layout } =
    type === 'dashboard' || !first || 'text' in first
      ? yield* boardOf(view, options)
      : {
          markup: render(
            insightTile(first, {
              title: hasHeader ? first.name || 'Insight' : '',
              about: hasHeader ? first.description : '',
              timezone,
              sizes: [alone],
            }),
          ),
          layout: '',
        }
  const header: Markup[] =
    hasHeader && type === 'dashboard'
      ? [element('h1', {}, name || 'Dashboard'), ...(description ? [element('p', {}, description)] : [])]
      : []
  const foot = element('footer', {}, `As of ${computedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. Days are those of ${timezone}.`)
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(name || 'Shared insight')}</title>
<style>${pageStyle}</style>
<style>${pictureStyle}</style>
${layout === '' ? '' : `<style>${layout}</style>`}
</head>
<body>
<main>
${header.map(render).join('\n')}
${markup}
${render(foot)}
</main>
<script>${pageScript}</script>
</body>
</html>
`
  return { html, layout }
}
