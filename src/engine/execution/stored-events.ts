import type { Table } from 'apache-arrow'
import { alias, and, call, field, isIn, limit, literal, order, select, table } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { EventRange, StoredEvent, StoredEvents } from '../../service/plugins/delivery/ports.ts'
import type { RunOptions } from './ports.ts'
import type { QueryProject } from './query-context.ts'
import { runStatement } from './statements.ts'

// Stored events by their position in the log, for plugins that receive them.

const position = field('@log_seq')
const within = ({ after, to }: EventRange): Expr =>
  and(call('greater', position, literal(after)), call('lessOrEquals', position, literal(to)))

const columns: Readonly<Record<keyof StoredEvent, Expr>> = {
  position,
  uuid: call('toString', field('uuid')),
  event: field('event'),
  distinct_id: field('distinct_id'),
  timestamp: call('formatDateTime', field('timestamp'), literal('%Y-%m-%dT%H:%i:%S.%fZ'), literal('UTC')),
  properties: field('properties'),
  elements_chain: field('elements_chain'),
  person_id: call('toString', field('person', 'id')),
  person_properties: field('person', 'properties'),
}

const settings = { isUtc: true }

function* rowsOf(answer: Table): Generator<Record<string, unknown>> {
  const found = answer.schema.fields.map(({ name }, i) => [name, answer.getChildAt(i)!] as const)
  for (let row = 0; row < answer.numRows; row++) yield Object.fromEntries(found.map(([name, values]) => [name, values.get(row)]))
}

async function eventsWhere(project: QueryProject, where: Expr, options: RunOptions): Promise<StoredEvent[]> {
  const answer = await runStatement(
    select({
      columns: Object.entries(columns).map(([name, expr]) => alias(expr, name)),
      from: table('events'),
      where,
      orderBy: [order(position)],
    }),
    project,
    { ...settings, ...options },
  )
  return [...rowsOf(answer)].map((row) => ({ ...(row as unknown as StoredEvent), position: Number(row.position) }))
}

/** Sizes first: a few events may be as large as all others. */
export async function eventsInRange(project: QueryProject, range: EventRange, options: RunOptions = {}): Promise<StoredEvents> {
  const statement = select({
    columns: [alias(position, 'position'), alias(call('length', call('toString', field('properties'))), 'size')],
    from: table('events'),
    where: within(range),
    orderBy: [order(position)],
    limit: limit(range.events),
  })
  const sizes = [...rowsOf(await runStatement(statement, project, { ...settings, ...options }))]
  let total = 0
  let count = 0
  for (const { size } of sizes) {
    total += Number(size)
    if (count > 0 && total > range.characters) break
    count++
  }
  const isWhole = count === sizes.length && sizes.length < range.events
  const through = isWhole ? range.to : Number(sizes[count - 1]!.position)
  return { events: count === 0 ? [] : await eventsWhere(project, within({ ...range, to: through }), options), through }
}

export const eventsAt = (project: QueryProject, positions: readonly number[], options: RunOptions = {}): Promise<StoredEvent[]> =>
  positions.length === 0
    ? Promise.resolve([])
    : eventsWhere(
        project,
        isIn(
          position,
          positions.map((one) => literal(one)),
        ),
        options,
      )
