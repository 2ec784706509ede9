import { darkColors, darkInks, inksStyle, lightColors, lightInks, seriesStyle } from '../pictures/style.ts'
import { rowHeight, tileGap, wideBoard } from '../pictures/tile-places.ts'

// The looks of `<waymark-chart>` and `<waymark-dashboard>`, inside their shadow trees. An application changes them with CSS variables, which begin with --waymark-.

const inkNames = ['ink', 'faint', 'rule', 'background', 'accent', 'on-accent', 'other'] as const

const own = (name: string) => `--_${name}`
const variables = (inks: readonly string[], colors: readonly string[]) =>
  [
    ...inkNames.map((name, i) => `${own(name)}:var(--waymark-${name},${inks[i]})`),
    ...colors.map((color, i) => `${own(`series-${i + 1}`)}:var(--waymark-series-${i + 1},${color})`),
  ].join(';')
const used = (name: string) => `var(${own(name)})`
const [ink, faint, rule, background, accent] = inkNames.map(used) as [string, string, string, string, string]

const dark = variables(darkInks, darkColors)

export const embedStyle = `:host{${variables(lightInks, lightColors)};display:block;color:${ink};background:${background};font:14px/1.5 var(--waymark-font,system-ui,-apple-system,Roboto,sans-serif);font-variant-numeric:tabular-nums}
:host([hidden]){display:none}
:host([theme=dark]){${dark}}
@media(prefers-color-scheme:dark){:host([theme=auto]){${dark}}}
${inksStyle(ink, faint, rule, background, accent, used('on-accent'), used('other'))}${seriesStyle(lightColors.map((_, i) => used(`series-${i + 1}`)))}
text{font-family:inherit}
*{box-sizing:border-box}
h3{font-size:var(--waymark-title-size,15px);font-weight:600;line-height:1.4;margin:0 0 8px}
p{margin:0 0 6px;overflow-wrap:anywhere}
.about,.left-out,summary{color:${faint};font-size:12px}
summary{cursor:pointer;padding:2px 0}
.body{overflow:auto}
.waiting{min-height:var(--waymark-least-height,120px);display:grid;place-items:center;color:${faint}}
.room{position:relative}
.room svg{display:block;max-width:100%}
table{border-collapse:collapse;font-size:12px}
th,td{text-align:left;padding:2px 12px 2px 0;border-bottom:1px solid ${rule};min-width:4em;vertical-align:top;overflow-wrap:anywhere}
.hit{fill:none;pointer-events:all}
.hit.on{fill:${faint};fill-opacity:.12}
[data-tip].on:not(.hit){filter:brightness(.85)}
.tip{position:absolute;z-index:1;pointer-events:none;background:${background};border:1px solid ${rule};border-radius:6px;box-shadow:0 2px 10px rgb(20 30 40/18%);padding:5px 8px;font-size:12px;max-height:20em;overflow:hidden}
.tip[hidden]{display:none}
:focus-visible{outline:2px solid ${accent};outline-offset:1px}
.board{display:grid;gap:${tileGap}px;grid-template-columns:repeat(12,minmax(0,1fr));grid-auto-rows:minmax(${rowHeight}px,auto)}
.board.narrow{display:flex;flex-direction:column}
.tile{min-width:0;border:1px solid ${rule};border-radius:var(--waymark-radius,10px);padding:8px 12px}
`

/** From the edge of a tile to its picture, both sides together. */
const aroundPicture = 26

/** How wide the picture of a tile is, on a board that is so wide. */
export const tileWidth = (board: number, columns: number): number => {
  const span = board < wideBoard ? board : Math.floor(((board + tileGap) / 12) * columns - tileGap)
  return Math.max(120, span - aroundPicture)
}
