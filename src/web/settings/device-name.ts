/** The more specific ones first: most browsers name others, too. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const
const systems = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['CrOS', 'ChromeOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** `Firefox on Windows`, from a user agent; other programs by what they call themselves. */
export function deviceName(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown'
  const named = (list: readonly (readonly [string, string])[]) => list.find(([part]) => userAgent.includes(part))?.[1]
  const browser = named(browsers)
  const system = named(systems)
  if (browser === undefined) return userAgent.length > 60 ? `${userAgent.slice(0, 60)}…` : userAgent
  return system === undefined ? browser : `${browser} on ${system}`
}
