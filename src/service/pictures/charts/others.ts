import { type Chart, clipped, cut, most, nothing } from '../chart.ts'
import { cellText, numberText, plainNumbers } from '../format.ts'
import { readableEvent } from '../readable.ts'
import { overTime } from './over-time.ts'
import { lookOf, seriesOf } from './trends.ts'
import { intervalOf, unfinishedOf } from './unfinished.ts'
import { type Fields, fieldsOf, isPreviousRow, listOf, numberOf, objectsOf, textOf, textsOf } from './values.ts'

/** Actors by the number of intervals in which they were active. */
export function stickinessChart(query: Fields, answer: Fields): Chart {
  const rows = objectsOf(answer.results)
  const labels = rows.map((row) => textsOf(row.labels)).sort((a, b) => b.length - a.length)[0] ?? []
  const display = textOf(fieldsOf(query.stickinessFilter).display)
  const kind = display.includes('Bar') ? 'bars' : 'lines'
  const look = lookOf(fieldsOf(query.stickinessFilter))
  return overTime(labels, seriesOf(rows), { kind, isFilled: display === 'ActionsAreaGraph', format: plainNumbers, look })
}

/** Green came, blue stayed, violet came back, red left. */
const statusColors: Readonly<Record<string, number>> = { new: 2, returning: 0, resurrecting: 6, dormant: 7 }

export function lifecycleChart(query: Fields, answer: Fields, timezone: string): Chart {
  const rows = objectsOf(answer.results)
  const series = seriesOf(rows).map((one, i) => {
    const status = textOf(rows[i]!.status)
    return { ...one, label: status, color: statusColors[status] ?? 4 }
  })
  const begins = textsOf(rows[0]?.days)
  const interval = intervalOf(textOf(query.interval), begins)
  const unfinished = unfinishedOf(begins, interval, textOf(answer.last_refresh), timezone)
  const look = lookOf(fieldsOf(query.lifecycleFilter))
  const time = { begins, interval, unfinished, look }
  return overTime(textsOf(rows[0]?.labels), series, { kind: 'bars', isStacked: true, format: plainNumbers, ...time })
}

/** `2_https://example.com/a`: the step, the site and the path. */
function addressOf(name: string): { readonly step: string; readonly site: string; readonly path: string } | null {
  const start = /^\d{1,3}_https?:\/\//.exec(name)?.[0]
  if (start === undefined) return null
  const slash = name.indexOf('/', start.length)
  const [end, step] = [slash < 0 ? name.length : slash, start.slice(0, start.indexOf('_') + 1)]
  return { step, site: name.slice(step.length, end), path: name.slice(end) || '/' }
}

/** Addresses are told by their paths, when all of them are of one site. */
function withoutSite(names: ReadonlySet<string>): (name: string) => string {
  const sites = new Set([...names].flatMap((name) => addressOf(name)?.site ?? []))
  if (sites.size !== 1) return (name) => name
  return (name) => {
    const address = addressOf(name)
    return address ? address.step + address.path : name
  }
}

/** Of a comparison the current period is drawn, and its edges know the numbers of the other one. */
export function pathsChart(_query: Fields, answer: Fields): Chart {
  const all = objectsOf(answer.results).map((edge, row) => ({
    from: textOf(edge.source),
    to: textOf(edge.target),
    value: numberOf(edge.value) ?? 0,
    row,
    isPrevious: isPreviousRow(edge),
  }))
  const keyOf = ({ from, to }: { from: string; to: string }) => JSON.stringify([from, to])
  const before = new Map(all.filter(({ isPrevious }) => isPrevious).map((edge) => [keyOf(edge), edge.value]))
  const edges = all
    .filter(({ value, isPrevious }) => value > 0 && !isPrevious)
    .map(({ isPrevious: _, ...edge }) => ({ ...edge, previous: before.get(keyOf(edge)) ?? null }))
    .sort((a, b) => b.value - a.value)
  if (edges.length === 0) return nothing('No paths in this range')
  const shown = withoutSite(new Set(edges.flatMap(({ from, to }) => [from, to])))
  const { kept, leftOut } = cut(edges, most.edges, 'edge', 'edges')
  const gone = before.size - edges.filter(({ previous }) => previous !== null).length
  return {
    kind: 'flow',
    edges: kept.map((edge) => ({ ...edge, from: shown(edge.from), to: shown(edge.to) })),
    leftOut: gone > 0 ? [...leftOut, `${gone} ${gone === 1 ? 'edge' : 'edges'} of the previous period only`] : leftOut,
  }
}

export function correlationChart(_query: Fields, answer: Fields): Chart {
  const all = objectsOf(fieldsOf(answer.results).events)
  const { kept, leftOut } = cut(all, most.rows, 'row', 'rows')
  const rows = kept.map((row) => [
    clipped(readableEvent(textOf(fieldsOf(row.event).event))),
    numberText(numberOf(row.success_count)),
    numberText(numberOf(row.failure_count)),
    numberText(numberOf(row.odds_ratio)),
  ])
  return rows.length === 0 ? nothing() : { kind: 'table', columns: ['Event', 'Converted', 'Dropped off', 'Odds ratio'], rows, leftOut }
}

/** Any list of rows: lists in the order of the columns, or objects. */
/** The events of sessions, each in a row of its own. */
export function timelineChart(query: Fields, answer: Fields, timezone: string): Chart {
  const results = objectsOf(answer.results).flatMap(({ sessionId, events }) =>
    objectsOf(events).map((event) => [event.timestamp, event.event, event.distinct_id, sessionId ?? '']),
  )
  return tableChart(query, { columns: ['Time', 'Event', 'Distinct id', 'Session'], results }, timezone)
}

export function tableChart(_query: Fields, answer: Fields, timezone: string): Chart {
  const results = listOf(answer.results)
  const objects = objectsOf(results)
  const names = textsOf(answer.columns)
  const found = names.length > 0 ? names : [...new Set(objects.flatMap((row) => Object.keys(row)))]
  const width = Math.max(found.length, ...results.slice(0, most.rows).map((row) => (Array.isArray(row) ? row.length : 0)))
  if (width === 0 || results.length === 0) return results.length === 0 ? nothing('No rows') : nothing('This answer has no rows to show')
  const columns = cut(
    Array.from({ length: width }, (_, i) => found[i] ?? ''),
    most.columns,
    'column',
    'columns',
  )
  const { kept, leftOut } = cut(results, most.rows, 'row', 'rows')
  const cells = (row: unknown) => (Array.isArray(row) ? row : found.map((name) => fieldsOf(row)[name]))
  const rows = kept.map((row) => columns.kept.map((_, i) => clipped(cellText(cells(row)[i], timezone))))
  return { kind: 'table', columns: columns.kept.map((name) => clipped(name)), rows, leftOut: [...leftOut, ...columns.leftOut] }
}
