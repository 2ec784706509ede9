import { type Converter, problem, textOf } from '../record.ts'

// Plausible's export has no events: each row is the sums of a day, by page, source, country and so on. A row becomes one event with these sums, so that charts that add
// them up have Plausible's numbers, and no visitor is invented.

/** The column that tells one file from the others, and what its rows are called. */
const kinds: readonly (readonly [column: string, name: string])[] = [
  ['entry_page', 'entry pages'],
  ['exit_page', 'exit pages'],
  ['page', 'pages'],
  ['link_url', 'custom events'],
  ['source', 'sources'],
  ['country', 'locations'],
  ['browser', 'browsers'],
  ['operating_system', 'operating systems'],
  ['device', 'devices'],
]
const sums = [
  'visitors',
  'pageviews',
  'visits',
  'bounces',
  'visit_duration',
  'entrances',
  'exits',
  'events',
  'total_scroll_depth',
  'total_time_on_page',
]

export const isPlausible = (columns: readonly string[]): boolean =>
  columns.includes('date') && columns.includes('visitors') && sums.filter((sum) => columns.includes(sum)).length >= 2

export const plausible: Converter = (row) => {
  const date = /^\d{4}-\d\d-\d\d/.exec(textOf(row.date) ?? '')?.[0]
  if (date === undefined) return problem(`unreadable date: ${String(row.date)}`)
  const properties: Record<string, unknown> = { $process_person_profile: false }
  for (const [column, value] of Object.entries(row)) {
    const text = textOf(value)
    if (column === 'date' || text === null) continue
    properties[column] = sums.includes(column) && Number.isFinite(Number(text)) ? Number(text) : text
  }
  const kind = kinds.find(([column]) => column in row)?.[1] ?? 'visitors'
  // Noon: the day of the site, whatever the time zone of the project.
  return [{ event: `Plausible ${kind}`, distinct_id: 'plausible', timestamp: `${date}T12:00:00Z`, properties }]
}
