// Where somebody comes from, and with what: a flag, and small drawings for browsers and systems in the manner of the other icons.

const shapes = {
  chrome: 'M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M8 5.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5M8 5.5h5.4M5.8 9.2L3.1 4.7M10.2 9.2l-2.7 4.7',
  safari: 'M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M10.8 5.2L9 9l-3.8 1.8L7 7z',
  firefox:
    'M3 5.5C2 8 2.2 14 8 14s6.6-6 4.8-9c-.4 1.2-1 1.6-1.8 1.8C11 4.5 9.5 2.5 7.5 2c.4 2-1 2.6-2 3.8C5 5 4.7 4.6 4.5 4C3.7 4.5 3.2 5 3 5.5',
  edge: 'M2.2 9C2 5 4.5 2 8 2s6 2.3 6 5c0 2-1.5 3-3 3s-2-.8-2-1.5S8.5 7 7 7c-2 0-3 2-2.5 4s2.5 3 4.5 3c1.5 0 3-.5 4-1.5',
  opera: 'M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M8 4.5c-1.5 0-2.5 1.5-2.5 3.5s1 3.5 2.5 3.5s2.5-1.5 2.5-3.5S9.5 4.5 8 4.5',
  windows: 'M2.5 3.5h5v4h-5zM9 3.5h4.5v4H9zM2.5 9h5v4h-5zM9 9h4.5v4H9z',
  apple: 'M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3',
  phone: 'M5 1.8h6v12.4H5zM7.5 12h1',
  android: 'M3 11a5 5 0 0 1 10 0zM5.3 6.3L4 4M10.7 6.3L12 4M6 9h.01M10 9h.01',
  linux: 'M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3',
} as const

const known: readonly (readonly [name: RegExp, shape: keyof typeof shapes])[] = [
  [/edge/i, 'edge'],
  [/opera|opr/i, 'opera'],
  [/firefox/i, 'firefox'],
  [/ios|iphone|ipad/i, 'phone'],
  [/safari/i, 'safari'],
  [/chrome|chromium/i, 'chrome'],
  [/windows/i, 'windows'],
  [/mac/i, 'apple'],
  [/android/i, 'android'],
  [/linux|ubuntu/i, 'linux'],
]

/** Of a browser or an operating system; of one that is not known, its first letter. */
export function ClientIcon({ name }: { name: string }) {
  const shape = known.find(([pattern]) => pattern.test(name))?.[1]
  if (shape === undefined)
    return (
      <span class="client-letter" title={name} aria-hidden="true">
        {[...name][0]?.toUpperCase()}
      </span>
    )
  return (
    <svg
      class="client-icon"
      width="14"
      height="14"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.3"
      stroke-linejoin="round"
      stroke-linecap="round"
      aria-hidden="true"
    >
      <path d={shapes[shape]} />
    </svg>
  )
}

/** `DE` as the two letters of its flag. Empty: it is no code of a country. */
const flagOf = (code: string): string =>
  /^[A-Za-z]{2}$/.test(code) ? String.fromCodePoint(...[...code.toUpperCase()].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65)) : ''

let flagsDrawn: boolean | undefined
/** Some systems have no flags: a pair of letters is then as wide as two of them. */
function hasFlags(): boolean {
  flagsDrawn ??= (() => {
    const context = document.createElement('canvas').getContext('2d')
    if (!context) return false
    context.font = '16px "Apple Color Emoji", "Noto Color Emoji", sans-serif'
    return context.measureText(flagOf('DE')).width < 1.6 * context.measureText([...flagOf('DE')][0]!).width
  })()
  return flagsDrawn
}

/** A flag, or the code where there are none. */
export function CountryFlag({ code, name = code }: { code: string; name?: string }) {
  const flag = flagOf(code)
  if (flag === '') return null
  return (
    <span class={hasFlags() ? 'flag' : 'client-letter'} title={name} aria-hidden="true">
      {hasFlags() ? flag : code.toUpperCase()}
    </span>
  )
}

const textAt = (properties: Readonly<Record<string, unknown>>, ...names: readonly string[]): string => {
  const found = names.map((name) => properties[name]).find((value) => typeof value === 'string' && value !== '')
  return typeof found === 'string' ? found : ''
}

/** What the properties of an event or a person tell: country, browser, system; for those who hear the page it is in their properties. */
export function Origin({ of }: { of: Readonly<Record<string, unknown>> }) {
  const country = textAt(of, '$geoip_country_code', '$initial_geoip_country_code')
  const [browser, system] = [textAt(of, '$browser', '$initial_browser'), textAt(of, '$os', '$initial_os')]
  if (country === '' && browser === '' && system === '') return null
  return (
    <span class="origin">
      <CountryFlag code={country} name={textAt(of, '$geoip_country_name', '$initial_geoip_country_name') || country} />
      {browser !== '' && <ClientIcon name={browser} />}
      {system !== '' && <ClientIcon name={system} />}
    </span>
  )
}
