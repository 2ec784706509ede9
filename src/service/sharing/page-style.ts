import { rowHeight, tileGap, wideBoard } from '../pictures/tile-places.ts'

// The looks of the page of a public link. Pictures are drawn in several widths, and the page shows the widest that fits: a picture that is scaled down
// cannot be read.

/** Widths of pictures on a wide board, of those in one column, and of the only one of a page. */
export const wideSteps = [170, 220, 290, 380, 500, 650, 850, 1100] as const
export const narrowSteps = [250, 310, 480] as const
export const singleSteps = [250, 310, 480, 650, 850, 1100] as const

/** Of the board, at most; `aroundPicture`: from the edge of a tile to its picture, both sides together. */
export const [mostOfBoard, aroundPicture] = [1200, 26] as const

const steps = [...new Set([...wideSteps, ...narrowSteps, ...singleSteps])].sort((a, b) => a - b)
/** A picture is shown from its own width until that of the next one. */
const choice = steps
  .map(
    (px) =>
      `@container room (max-width:${px - 0.02}px){.room .from-${px}{display:none}}@container room (min-width:${px}px){.room .until-${px}{display:none}}`,
  )
  .join('\n')

export const pageStyle = `*{box-sizing:border-box}
body{font:14px/1.5 system-ui,-apple-system,Roboto,sans-serif;margin:0;color:#1c2733;background:#fff}
main{max-width:${mostOfBoard + 40}px;margin:0 auto;padding:12px 20px}
h1{font-size:22px;margin:8px 0}
h1,h2,p,th,td{overflow-wrap:anywhere}
main>p,.tile p{white-space:pre-wrap;margin:0 0 6px}
.page{container:page/inline-size}
.board{display:grid;gap:${tileGap}px;grid-template-columns:repeat(12,minmax(0,1fr));grid-auto-rows:${rowHeight}px}
.tile{display:flex;flex-direction:column;min-width:0;min-height:0;border:1px solid #d9e0e7;border-radius:10px;padding:6px 12px}
.tile>h2{font-size:14px;line-height:28px;margin:0;flex:none}
.board .tile>h2{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.board .tile>.about{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;flex:none}
.body{flex:1;min-height:0;overflow:auto}
.body :is(h2,ul){margin:2px 0 6px}
.level-1{font-size:18px}.level-2{font-size:16px}.level-3,.level-4{font-size:14px}
.room{container:room/inline-size;position:relative}
.room svg{display:block;margin:0 auto}
.room svg.map{width:100%;height:auto}
.one-column{display:none}
.about,.left-out,footer,summary{color:#5b6b7b;font-size:12px}
summary{cursor:pointer;padding:2px 0}
table{border-collapse:collapse;font-size:12px}
th,td{text-align:left;padding:2px 12px 2px 0;border-bottom:1px solid #d9e0e7;min-width:4em;vertical-align:top}
.hit{fill:none;pointer-events:all}
.hit.on{fill:#5b6b7b;fill-opacity:.12}
[data-tip].on:not(.hit){filter:brightness(.85)}
.tip{position:absolute;z-index:1;pointer-events:none;background:#fff;border:1px solid #d9e0e7;border-radius:6px;box-shadow:0 2px 10px rgb(20 30 40/18%);padding:5px 8px;font-size:12px;max-height:20em;overflow:hidden}
.tip[hidden]{display:none}
:focus-visible{outline:2px solid #1d5fc0;outline-offset:1px}
a{color:#1d5fc0}
footer{margin-top:16px}
@container page (max-width:${wideBoard - 0.02}px){.in-grid{display:none}.one-column{display:block}}
@supports not (container-type:inline-size){.room svg~svg{display:none}}
@media(max-width:480px){main{padding:8px 10px}}
@media(prefers-color-scheme:dark){body{color:#dde5ec;background:#14191f}.tile,th,td{border-color:#37444f}.about,.left-out,footer,summary{color:#9fb0c0}.tip{background:#1e262f;border-color:#37444f}.hit.on{fill:#9fb0c0}a{color:#6fb1ff}:focus-visible{outline-color:#6fb1ff}}
${choice}`
