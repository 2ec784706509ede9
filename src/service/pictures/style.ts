// Colors by class, so that a reader's light or dark mode decides. The same text in every picture: a page allows it by its hash.

export const lightColors = ['#1d6fd8', '#b4540a', '#0d8257', '#8a3ffc', '#c2255c', '#0b7285', '#7a6200', '#5c3fb0', '#a02c2c', '#3d6b1f']
export const darkColors = ['#6fb1ff', '#ff9f5a', '#4fd3a0', '#c4a2ff', '#ff8fb5', '#5cd6e8', '#e6cd5a', '#b3a1f5', '#ff9d94', '#a5d67c']

export const seriesStyle = (colors: readonly string[]) => colors.map((color, i) => `.f${i}{fill:${color}}.l${i}{stroke:${color}}`).join('')

const inksStyle = (ink: string, faint: string, rule: string, paper: string, shade: string, onShade: string, other: string) =>
  `.paper{fill:${paper}}.border{stroke:${paper}}.ink{fill:${ink}}.faint{fill:${faint}}.rule{stroke:${rule}}.inkline{stroke:${ink}}.track{fill:${rule}}.shade{fill:${shade}}.onshade{fill:${onShade}}.fo{fill:${other}}.lo{stroke:${other}}`

export const pictureStyle = [
  'text{font-family:system-ui,-apple-system,Roboto,sans-serif}',
  inksStyle('#1c2733', '#5b6b7b', '#d9e0e7', '#ffffff', '#1d6fd8', '#ffffff', '#7d8b99'),
  seriesStyle(lightColors),
  `@media(prefers-color-scheme:dark){${inksStyle('#dde5ec', '#9fb0c0', '#37444f', '#14191f', '#6fb1ff', '#0b0f14', '#93a1ae')}${seriesStyle(darkColors)}}`,
].join('')

const paletteSize = lightColors.length

/** The class of a filled shape, and of a line. Colors below zero: what has no color of its own. */
export const filled = (color: number): string => (color < 0 ? 'fo' : `f${color % paletteSize}`)
export const lined = (color: number): string => (color < 0 ? 'lo' : `l${color % paletteSize}`)
