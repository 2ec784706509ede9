const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

/**
 * The first day of the week in a country, by its two-letter code: 0 Sunday, 1 Monday, null if unknown. A week that
 * starts on Saturday counts as one that starts on Sunday.
 */
export const weekStartIn = (country: string): 0 | 1 | null => {
  if (!/^[A-Za-z]{2}$/.test(country) || names.of(country.toUpperCase()) === undefined) return null
  // Node supports it; the TypeScript library does not yet.
  const { weekInfo } = new Intl.Locale('und', { region: country }) as Intl.Locale & { readonly weekInfo?: { readonly firstDay: number } }
  return weekInfo === undefined ? null : weekInfo.firstDay === 1 ? 1 : 0
}
