import { tables as languageTables } from '../../../language/catalog/tables.ts'
import { typeName } from '../../../language/types/types.ts'
import type { Api } from '../session/project.ts'
import type { ProjectTable, ProjectTables, TableColumn } from '../translation/tables.ts'
import { textOf } from '../translation/texts.ts'
import { type TypeName, typeOfLanguage } from '../types/pg-types.ts'

// The tables of a project: those of the language, its views, and one view for each event name with the properties that such events have.

const offered = ['events', 'persons', 'groups', 'sessions', 'cohort_people', 'person_distinct_ids'] as const
/** Events that get a view, the most frequent first, and the latest ones of each that are looked at for their properties. */
const mostEvents = 200
const latestEvents = 40
const mostProperties = 500
const mostViews = 200
/** The longest name of PostgreSQL in bytes; longer ones cannot be written by most tools. */
const longestName = 63

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

function languageTable(name: (typeof offered)[number]): ProjectTable {
  const columns = Object.entries(languageTables[name]!.fields).flatMap(([field, about]): TableColumn[] => {
    if (field.startsWith('@') || field === 'team_id') return []
    if (about.kind === 'lazy') return []
    if (about.kind === 'chain') return [{ name: field, type: 'uuid', nullable: false, sql: (table) => `${table}.${field}` }]
    const { type, nullable } = typeOfLanguage(typeName(about.type))
    const isJson = about.type.kind === 'scalar' && about.type.name === 'JSON'
    return [{ name: field, type: isJson ? 'jsonb' : type, nullable, sql: (table) => `${table}.${field}`, ...(isJson && { isJson }) }]
  })
  return { name, kind: 'table', columns, source: name, condition: null }
}

interface ViewAnswer {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly sql_type?: string }[]
}

const savedView = ({ name, columns }: ViewAnswer): ProjectTable => ({
  name,
  kind: 'view',
  source: name,
  condition: null,
  columns: columns.map((column): TableColumn => {
    const { type } = typeOfLanguage(column.sql_type ?? 'String')
    return { name: column.name, type, nullable: true, sql: (table) => `${table}.${quoted(column.name)}` }
  }),
})

interface Definition {
  readonly name: string
  readonly description?: string | null
  readonly property_type?: string | null
  readonly is_numerical?: boolean
  readonly counts?: Readonly<Record<'numeric' | 'numeric_text' | 'text' | 'boolean' | 'time' | 'other', number>>
}

const declared: Readonly<Record<string, TypeName>> = { Numeric: 'float8', Boolean: 'bool', DateTime: 'timestamptz', String: 'text' }

/** The declared type, or the one that all values have that were sent. */
function typeOfProperty({ property_type: type, is_numerical: isNumerical, counts }: Definition): TypeName {
  if (type) return declared[type] ?? 'text'
  if (isNumerical) return 'float8'
  const found = Object.entries(counts ?? {}).filter(([, count]) => count > 0)
  if (found.length !== 1) return 'text'
  return found[0]![0] === 'boolean' ? 'bool' : found[0]![0] === 'time' ? 'timestamptz' : found[0]![0] === 'numeric' ? 'float8' : 'text'
}

const conversions: Partial<Record<TypeName, string>> = { float8: 'toFloat', bool: 'toBool', timestamptz: 'toDateTime' }

const propertyColumn = (name: string, type: TypeName, comment: string | undefined): TableColumn => {
  const conversion = conversions[type] ?? 'toString'
  return {
    name,
    type,
    nullable: true,
    sql: (table) => `${conversion}(${table}.properties[${textOf(name)}])`,
    ...(comment && { comment }),
  }
}

const ofEveryEvent = ['uuid', 'timestamp', 'distinct_id', 'person_id', '$session_id', 'properties'] as const

function eventView(
  event: string,
  name: string,
  properties: readonly TableColumn[],
  events: ProjectTable,
  comment: string | undefined,
): ProjectTable {
  const base = ofEveryEvent.map((column) => events.columns.find((one) => one.name === column)!)
  const names = new Set<string>(ofEveryEvent)
  return {
    name,
    kind: 'view',
    source: 'events',
    condition: (table) => `${table}.event = ${textOf(event)}`,
    columns: [...base, ...properties.filter((one) => !names.has(one.name))],
    ...(comment && { comment }),
  }
}

type Samples = Map<string, Map<string, unknown>>

/** Keys of the latest events of each name, with the values of one of them. */
async function samples(api: Api, project: number, condition: string, found: Samples = new Map()): Promise<Samples> {
  const query = `select event, toString(properties) from events where ${condition} order by timestamp desc limit ${latestEvents} by event limit ${mostEvents * latestEvents}`
  const { results } = await api.ask(project, { kind: 'SqlLikeQuery', query }).catch(() => ({ results: [] }))
  for (const [event, text] of results as readonly (readonly [string, string])[]) {
    const known = found.get(event) ?? new Map<string, unknown>()
    for (const [key, value] of Object.entries(JSON.parse(text || '{}') as Record<string, unknown>))
      if (known.size < mostProperties && !known.has(key) && value !== null) known.set(key, value)
    found.set(event, known)
  }
  return found
}

const typeOfSample = (value: unknown): TypeName => (typeof value === 'number' ? 'float8' : typeof value === 'boolean' ? 'bool' : 'text')

const isOwn = (name: string) => !name.startsWith('$')
/** Properties that the application sends come first. */
const inOrder = (a: string, b: string): number => Number(isOwn(b)) - Number(isOwn(a)) || (a < b ? -1 : 1)

const canBeNamed = (name: string) => name !== '' && Buffer.byteLength(name) <= longestName && !/[\u0000-\u001f]/.test(name)

export async function loadTables(api: Api, project: number): Promise<ProjectTables> {
  const path = `/api/projects/${project}`
  const [views, events, properties, found] = await Promise.all([
    api.allowed<{ results: readonly ViewAnswer[] }>(`${path}/warehouse_saved_queries/?limit=${mostViews}`),
    api.allowed<{ results: readonly Definition[] }>(`${path}/event_definitions/?limit=${mostEvents}`),
    definitionsOf(api, path),
    samples(api, project, 'timestamp > now() - interval 90 day'),
  ])
  const tables = new Map<string, ProjectTable>()
  for (const name of offered) tables.set(name, languageTable(name))
  const base = tables.get('events')!
  for (const view of views?.results ?? []) if (!tables.has(view.name)) tables.set(view.name, savedView(view))
  const known = new Map(properties?.map((one) => [one.name, one]))
  const rare = (events?.results ?? []).filter(({ name }) => !found.has(name)).map(({ name }) => textOf(name))
  if (rare.length > 0) await samples(api, project, `event in (${rare.join(', ')})`, found)
  const definitions = events?.results ?? [...found.keys()].map((name): Definition => ({ name }))
  for (const { name: event, description } of definitions) {
    const name = tables.has(event) ? `event: ${event}` : event
    if (!canBeNamed(name)) continue
    const sample = found.get(event) ?? new Map<string, unknown>()
    const columns = [...sample.keys()]
      .filter(canBeNamed)
      .sort(inOrder)
      .map((key) => {
        const definition = known.get(key)
        return propertyColumn(
          key,
          definition ? typeOfProperty(definition) : typeOfSample(sample.get(key)),
          definition?.description ?? undefined,
        )
      })
    tables.set(name, eventView(event, name, columns, base, description ?? undefined))
  }
  return tables
}

const pageSize = 500

async function definitionsOf(api: Api, path: string): Promise<readonly Definition[] | null> {
  const all: Definition[] = []
  for (let offset = 0; offset < 4 * pageSize; offset += pageSize) {
    const page = await api.allowed<{ results: readonly Definition[] }>(
      `${path}/property_definitions/?type=event&limit=${pageSize}&offset=${offset}`,
    )
    if (!page) return null
    all.push(...page.results)
    if (page.results.length < pageSize) break
  }
  return all
}
