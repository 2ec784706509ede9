import type { CallToolResult } from '@modelcontextprotocol/server'
import { pngOf } from '../../service/bitmaps/png.ts'
import { pictureOf } from '../../service/pictures/picture.ts'
import { type Query, seriesNamesOf } from './questions.ts'
import { clipped, recorded } from './recorded.ts'
import { tableOf, tableText } from './tables.ts'

// What a tool answers: how many rows there are, the rows as data, the address of the page, and a picture.

/** Rows of one answer. */
export const mostRows = 200
/** Characters of one answer. */
const mostText = 40_000

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
}

const plural = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`

/** Rows as text, as many as fit, and what was left out. */
export function rowsText(
  table: ReturnType<typeof tableOf>,
  more: { readonly hasMore?: boolean; readonly rows?: number } = {},
): { readonly head: string; readonly data: string } {
  const most = Math.min(more.rows ?? mostRows, mostRows)
  const kept: (readonly unknown[])[] = []
  let length = 0
  for (const row of table.rows.slice(0, most)) {
    length += tableText({ columns: [], rows: [row] }).length
    if (length > mostText) break
    kept.push(row)
  }
  const left = table.rows.length - kept.length
  const cut =
    left > 0
      ? `, of which the first ${kept.length} are shown: ask for fewer (shorter range, larger interval, breakdown limit, LIMIT and OFFSET)`
      : ''
  const beyond = more.hasMore ? '. There are more rows in the project than in this answer: use LIMIT and OFFSET, or aggregate' : ''
  return { head: `${plural(table.rows.length, 'row')}${cut}${beyond}.`, data: recorded(tableText({ columns: table.columns, rows: kept })) }
}

const warningsOf = ({ warnings }: Readonly<Record<string, unknown>>): string[] =>
  Array.isArray(warnings) ? warnings.map((one) => `Warning: ${clipped(String((one as { message?: unknown }).message ?? one), 400)}`) : []

const rangeOf = ({ resolved_date_range: range }: Readonly<Record<string, unknown>>): string => {
  const { date_from: from, date_to: to } = (range ?? {}) as { date_from?: string; date_to?: string }
  return from && to ? `, ${from} to ${to}` : ''
}

/** The answer to a query: table, address, picture. */
export async function chartAnswer(
  project: ProjectFacts,
  { query, answer, title, name = title, hints = [] }: Answer,
  page: string | null,
): Promise<CallToolResult> {
  const first = query.kind === 'StickinessQuery' ? 'intervals' : 'date'
  const table = tableOf(answer, { names: seriesNamesOf(query), first })
  const { head, data } = rowsText(table, { hasMore: answer.hasMore === true })
  const svg = pictureOf(query, answer, { title: name, timezone: project.timezone, isLight: true })
  const text = [
    `${title}: ${head} Project ${project.id} (${project.timezone})${rangeOf(answer)}.`,
    data,
    ...warningsOf(answer),
    ...hints,
    ...(page === null ? [] : [`Page: ${page}`]),
    `Query, for list_people and save_insight: ${JSON.stringify(query)}`,
  ].join('\n')
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

export const textAnswer = (...lines: readonly (string | null)[]): CallToolResult => ({
  content: [{ type: 'text', text: lines.filter((line) => line !== null).join('\n') }],
})
