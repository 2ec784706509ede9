import { createHash } from 'node:crypto'
import { element, escaped, type Markup, render } from '../pictures/markup.ts'
import { pictureOf } from '../pictures/picture.ts'
import { pictureStyle } from '../pictures/style.ts'
import type { SharedView } from './shared-view.ts'

// The page of a public link: HTML and pictures, without a script.

const style = `body{font:15px/1.5 system-ui,-apple-system,Roboto,sans-serif;margin:0;color:#1c2733;background:#fff}
main{max-width:1640px;margin:0 auto;padding:16px}
h1{font-size:22px;margin:8px 0}
h2{font-size:16px;margin:8px}
p{white-space:pre-wrap;overflow-wrap:anywhere}
.tiles{display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(min(100%,600px),1fr))}
.tile{border:1px solid #d9e0e7;border-radius:8px;padding:8px;overflow-x:auto}
svg{max-width:100%;height:auto;display:block;margin:0 auto}
footer{color:#5b6b7b;font-size:12px;margin-top:16px}
@media(prefers-color-scheme:dark){body{color:#dde5ec;background:#14191f}.tile{border-color:#37444f}footer{color:#9fb0c0}}`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const styles = `${hashOf(style)} ${hashOf(pictureStyle)}`

/** Nothing is loaded and nothing runs. `isEmbedded`: other sites may show it in a frame. */
export const pageHeaders = (isEmbedded: boolean): Readonly<Record<string, string>> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src ${styles}; base-uri 'none'; form-action 'none'; frame-ancestors ${isEmbedded ? '*' : "'none'"}`,
  'x-robots-tag': 'noindex, nofollow',
})

export interface PageOptions {
  /** Name and description. */
  readonly hasHeader: boolean
}

export function sharedPage(view: SharedView, { hasHeader }: PageOptions): string {
  const { type, name, description, timezone, computedAt, tiles } = view
  // The picture of a single insight has its name and description.
  const header: Markup[] =
    hasHeader && type === 'dashboard'
      ? [element('h1', {}, name || 'Dashboard'), ...(description ? [element('p', {}, description)] : [])]
      : []
  const pictures = tiles.map((tile) => {
    if ('text' in tile) return render(element('section', { class: 'tile' }, element('p', {}, tile.text || ' ')))
    const title = type === 'dashboard' || hasHeader ? tile.name || 'Insight' : ''
    if (tile.answer === null)
      return render(
        element('section', { class: 'tile' }, element('h2', {}, title || ' '), element('p', {}, tile.error ?? 'There is no answer yet.')),
      )
    const svg = pictureOf(tile.query, tile.answer, { title, description: hasHeader ? tile.description : '', timezone })
    return `<section class="tile">${svg}</section>`
  })
  const foot = element('footer', {}, `As of ${computedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. Days are those of ${timezone}.`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(name || 'Shared insight')}</title>
<style>${style}</style>
</head>
<body>
<main>
${header.map(render).join('\n')}
<div class="tiles">
${pictures.join('\n')}
</div>
${render(foot)}
</main>
</body>
</html>
`
}
