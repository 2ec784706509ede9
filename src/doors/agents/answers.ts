import type { CallToolResult } from '@modelcontextprotocol/server'
import { pngOf } from '../../service/bitmaps/png.ts'
import { pictureOf } from '../../service/pictures/picture.ts'
import { type Query, seriesNamesOf } from './questions.ts'
import { cellText, clipped, recorded } from './recorded.ts'
import { type Table, tableOf, tableText } from './tables.ts'

// What a tool answers: how many rows there are, the rows as data, the address of the page, and a picture.

/** Rows of one answer. */
export const mostRows = 200
/** Characters of one answer. */
const mostText = 40_000
/** Of them for saying that something was left out. */
const mostNote = 100
/** Of them for what stands around a table. */
const mostAround = 4_000

/** A project, as every answer names it. */
export interface ProjectFacts {
  readonly id: number
  readonly name: string
  readonly timezone: string
}

export interface Answer {
  readonly query: Query
  readonly answer: Readonly<Record<string, unknown>>
  /** What it is, in our words. */
  readonly title: string
  /** Over the picture; a name that somebody gave. */
  readonly name?: string
  /** What the agent should know besides. */
  readonly hints?: readonly string[]
  /** The query was written by a member, and not by the agent. */
  readonly isSaved?: boolean
}

const plural = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`

/** Columns and rows as many as fit: the names of columns may take half of an answer. */
export function fittingTable({ columns, rows }: Table, most = mostRows): Table {
  let length = 0
  const isOver = (cells: readonly unknown[], limit: number): boolean => {
    length += cells.reduce<number>((sum, cell) => sum + cellText(cell).length + 1, 0)
    return length > limit
  }
  const over = columns.findIndex((name) => isOver([name], mostText / 2))
  const width = over < 0 ? columns.length : over
  const kept: (readonly unknown[])[] = []
  for (const row of rows.slice(0, most)) {
    const cells = row.slice(0, width)
    if (isOver(cells, mostText - mostAround)) break
    kept.push(cells)
  }
  return { columns: columns.slice(0, width), rows: kept }
}

/** Rows as text, as many as fit, and what was left out. */
export function rowsText(
  table: Table,
  more: { readonly hasMore?: boolean; readonly rows?: number } = {},
): { readonly head: string; readonly data: string } {
  const shown = fittingTable(table, Math.min(more.rows ?? mostRows, mostRows))
  const [rows, columns] = [shown.rows.length, shown.columns.length]
  const cut =
    table.rows.length > rows
      ? `, of which the first ${rows} are shown: ask for fewer (shorter range, larger interval, breakdown limit, LIMIT and OFFSET)`
      : ''
  const narrow = table.columns.length > columns ? `. Of ${table.columns.length} columns the first ${columns} are shown: ask for fewer` : ''
  const beyond = more.hasMore ? '. There are more rows in the project than in this answer: use LIMIT and OFFSET, or aggregate' : ''
  return { head: `${plural(table.rows.length, 'row')}${cut}${narrow}${beyond}.`, data: recorded(tableText(shown)) }
}

const mostWarnings = 20
/** They may name events and properties. */
export function warningsText({ warnings }: Readonly<Record<string, unknown>>): string | null {
  if (!Array.isArray(warnings) || warnings.length === 0) return null
  const lines = warnings.slice(0, mostWarnings).map((one) => clipped(String((one as { message?: unknown }).message ?? one), 400))
  return `Warnings:\n${recorded(lines.join('\n'))}`
}

const rangeOf = ({ resolved_date_range: range }: Readonly<Record<string, unknown>>): string => {
  const { date_from: from, date_to: to } = (range ?? {}) as { date_from?: string; date_to?: string }
  return from && to ? `, ${from} to ${to}` : ''
}

/** The answer to a query: table, address, picture. */
export async function chartAnswer(
  project: ProjectFacts,
  { query, answer, title, name = title, hints = [], isSaved = false }: Answer,
  page: string | null,
): Promise<CallToolResult> {
  const first = query.kind === 'StickinessQuery' ? 'intervals' : 'date'
  const table = tableOf(answer, { names: seriesNamesOf(query), first })
  const { head, data } = rowsText(table, { hasMore: answer.hasMore === true })
  const svg = pictureOf(query, answer, { title: name, timezone: project.timezone, isLight: true })
  const text = fittingText([
    `${title}: ${head} Project ${project.id} (${project.timezone})${rangeOf(answer)}.`,
    data,
    warningsText(answer),
    ...hints,
    page === null ? null : `Page: ${page}`,
    queryText(query, isSaved),
  ])
  const png = await pngOf(svg)
  return {
    content: [
      { type: 'text', text },
      { type: 'image', data: Buffer.from(png).toString('base64'), mimeType: 'image/png' },
    ],
    // For clients that show the chart themselves; it is not read by the agent.
    _meta: { 'waymark/chart': { svg, page } },
  }
}

/** On one line, and without what a reader cannot see. */
const queryText = (query: Query, isSaved: boolean): string => {
  const json = JSON.stringify(query).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (one) =>
    [...Array(one.length).keys()].map((i) => `\\u${one.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
  return `Query, for list_people and save_insight: ${isSaved ? `\n${recorded(json)}` : json}`
}

/** What fits, in its order. A part is left out as a whole: half of one would have lost its marks. */
function fittingText(parts: readonly (string | null)[]): string {
  const given = parts.filter((part) => part !== null)
  let length = 0
  const kept = given.filter((part) => {
    const fits = length + part.length < mostText - mostNote
    if (fits) length += part.length + 1
    return fits
  })
  const left = given.length - kept.length
  return [...kept, ...(left > 0 ? [`Left out, because the answer is too long: ${plural(left, 'part')}.`] : [])].join('\n')
}

export const textAnswer = (...parts: readonly (string | null)[]): CallToolResult => ({
  content: [{ type: 'text', text: fittingText(parts) }],
})
