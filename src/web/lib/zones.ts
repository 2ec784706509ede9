/** Time zones that a field suggests. */
export const knownZones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** That of the browser; UTC if it tells none. */
export const browserZone = (): string => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return timeZone && timeZone !== 'Etc/Unknown' ? timeZone : 'UTC'
}
