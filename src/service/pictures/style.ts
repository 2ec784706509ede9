// Colors by class, so that a reader's light or dark mode decides. The same text in every picture: a page allows it by its hash.

/** Far from each other also for those who do not tell red from green, or blue from yellow; the first ones furthest, and neighbours further than others (docs/decisions/web-interface.md). */
export const lightColors = [
  '#2f54d6',
  '#dd6d39',
  '#007245',
  '#a671e3',
  '#1ba17c',
  '#aa116c',
  '#a468a1',
  '#b10a03',
  '#9150f4',
  '#d94f64',
  '#4d86c4',
  '#aa6500',
  '#d4699d',
  '#a60090',
  '#447d41',
  '#ed38c0',
  '#b4416e',
  '#66983b',
  '#9f22b6',
  '#b8362f',
]
export const darkColors = [
  '#8ba4ff',
  '#fa9443',
  '#3cb083',
  '#c477bd',
  '#95e09a',
  '#fbacc9',
  '#e5c3ff',
  '#fd5669',
  '#818afa',
  '#e67da1',
  '#8bbcff',
  '#e8ca37',
  '#fd688c',
  '#c99dde',
  '#c9e66a',
  '#dc92b9',
  '#ff43dc',
  '#a9bd78',
  '#ecb0e3',
  '#ef7118',
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
