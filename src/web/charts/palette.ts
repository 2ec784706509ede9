import { darkColors, lightColors, seriesStyle } from '../../service/pictures/style.ts'

// The colors of series are those of the pictures in mails and public pages; the reader's choice of light or dark decides.

/** What stands for a series outside of a drawing: `b0` has the color of `f0`. */
const tileStyle = (colors: readonly string[]) => colors.map((color, i) => `.b${i}{background:${color}}`).join('')

/** For all charts of the page. */
export function addPalette(): void {
  const sheet = new CSSStyleSheet()
  const dark = seriesStyle(darkColors) + tileStyle(darkColors)
  sheet.replaceSync(`${seriesStyle(lightColors)}${tileStyle(lightColors)}
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${dark} } }
:root[data-theme="dark"] { ${dark} }`)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
}
