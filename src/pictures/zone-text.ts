const known = new Map<string, (date: Date) => string>()
const mostKnown = 200

function make(timezone: string): (date: Date) => string {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
  const format = new Intl.DateTimeFormat('en-US', { ...options, hourCycle: 'h23', timeZone: timezone })
  return (date) => {
    const parts = new Map(format.formatToParts(date).map(({ type, value }) => [type, value]))
    const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? ''
    const seconds = part('second') === '00' ? '' : `:${part('second')}`
    return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}${seconds}`
  }
}

/** Writes times of a zone; in UTC if the zone is not known. Making such a format costs more than using it. */
export function zoneOf(timezone: string): (date: Date) => string {
  const found = known.get(timezone)
  if (found) return found
  let made: (date: Date) => string
  try {
    made = make(timezone)
  } catch {
    made = make('UTC')
  }
  if (known.size >= mostKnown) known.clear()
  known.set(timezone, made)
  return made
}
