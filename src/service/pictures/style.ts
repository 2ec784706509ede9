// Colors by class, so that a reader's light or dark mode decides. The same text in every picture: a page allows it by its hash.

/** Far from each other also for those who do not tell red from green, or blue from yellow; the first ones furthest (docs/decisions/web-interface.md). */
export const lightColors = [
  '#1d6fd8',
  '#d9730d',
  '#008a5a',
  '#542e65',
  '#164801',
  '#301ab6',
  '#9663ab',
  '#cd163b',
  '#6f1f3f',
  '#8e0c9f',
  '#754cfc',
  '#f5556e',
  '#9c3f71',
  '#9c7ed8',
  '#ca7b3f',
  '#016833',
  '#c4450e',
  '#e343f8',
  '#113b7f',
  '#e65d9b',
]
export const darkColors = [
  '#6fb1ff',
  '#fe851d',
  '#b9edae',
  '#f9d4fb',
  '#468d4f',
  '#a454f9',
  '#c253b8',
  '#fa0c47',
  '#fc4691',
  '#c0a3d8',
  '#b354dc',
  '#f4b6be',
  '#f266e7',
  '#bbc3fd',
  '#f8a264',
  '#82fb4c',
  '#de4f11',
  '#ca529f',
  '#658fd0',
  '#a66f7f',
]

export const seriesStyle = (colors: readonly string[]) => colors.map((color, i) => `.f${i}{fill:${color}}.l${i}{stroke:${color}}`).join('')

/** In the order of `inksStyle`. */
type Inks = readonly [ink: string, faint: string, rule: string, paper: string, shade: string, onShade: string, other: string]
export const lightInks: Inks = ['#1b1e23', '#646a73', '#e2e1dc', '#ffffff', '#2f54d6', '#ffffff', '#7d8389']
export const darkInks: Inks = ['#e8eaed', '#979ea8', '#30353b', '#1a1d21', '#8ba4ff', '#0e1224', '#8f96a0']

export const inksStyle = (...[ink, faint, rule, paper, shade, onShade, other]: Inks): string =>
  `.paper{fill:${paper}}.border{stroke:${paper}}.ink{fill:${ink}}.faint{fill:${faint}}.rule{stroke:${rule}}.inkline{stroke:${ink}}.track{fill:${rule}}.shade{fill:${shade}}.onshade{fill:${onShade}}.fo{fill:${other}}.lo{stroke:${other}}.halo{stroke:${paper};stroke-width:3px;paint-order:stroke}`

/** Of pictures that are light for every reader. */
export const lightPictureStyle = [
  'text{font-family:system-ui,-apple-system,Roboto,sans-serif}',
  inksStyle(...lightInks),
  seriesStyle(lightColors),
].join('')
const darkStyle = [inksStyle(...darkInks), seriesStyle(darkColors)].join('')

export const pictureStyle = `${lightPictureStyle}@media(prefers-color-scheme:dark){${darkStyle}}`

export const paletteSize = lightColors.length

/** The class of a filled shape, and of a line. Colors below zero: what has no color of its own. */
export const filled = (color: number): string => (color < 0 ? 'fo' : `f${color % paletteSize}`)
export const lined = (color: number): string => (color < 0 ? 'lo' : `l${color % paletteSize}`)
