import * as z from 'zod'
import type { DatabaseSchemaAnswer } from '../../../queries/sql/editor/database-schema.ts'
import type { EventDefinitionAnswer } from '../../answers/event-definitions.ts'
import type { PropertyDefinitionAnswer } from '../../answers/property-definitions.ts'
import { fittingTable, textAnswer } from '../answers.ts'
import { ApiRefusal } from '../api.ts'
import { projectField } from '../questions.ts'
import { cellText, dataNotice, recorded } from '../recorded.ts'
import { type Table, tableText } from '../tables.ts'
import { defineTool, type ToolCall } from '../tool.ts'
import { ask } from './ask.ts'

interface Page<T> {
  readonly count: number
  readonly results: readonly T[]
}
const shownEvents = 100
const shownProperties = 60
const shownRecords = 30

/** Null: the key may not read it. */
const allowed = async <T>(wanted: Promise<T>): Promise<T | null> => {
  try {
    return await wanted
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 403) return null
    throw error
  }
}

const section = (title: string, table: Table, count = table.rows.length): string => {
  const shown = fittingTable(table)
  const cut = count > shown.rows.length ? `, the first ${shown.rows.length} are shown` : ''
  return `${title} (${count}${cut}):\n${recorded(tableText(shown))}`
}

const typeText = ({ property_type: declared, counts, is_numerical: isNumerical }: PropertyDefinitionAnswer): string => {
  if (declared) return declared
  if (isNumerical) return 'Numeric'
  const all = Object.entries({
    Numeric: counts.numeric + counts.numeric_text,
    String: counts.text,
    Boolean: counts.boolean,
    DateTime: counts.time,
    'list or object': counts.other,
  }).sort((a, b) => b[1] - a[1])
  const [most] = all
  if (!most || most[1] === 0) return 'unknown'
  return all.filter(([, count]) => count > 0).length === 1 ? most[0] : `mostly ${most[0]}`
}

interface Sample {
  readonly property: string
  readonly sample_values: readonly string[]
  readonly sample_count: number
}
const examples = (values: readonly string[] | undefined) => (values ?? []).map((value) => cellText(value).slice(0, 40)).join(', ')

const latestEvents = 100
const exampleCount = 4
/** What clients send about themselves, and what belongs to nobody else. */
const omitted = /^\$set$|^\$set_once$|^\$unset$|^\$group_set$|^\$feature\/|^token$|^distinct_id$/

/** What the latest events of a name have, however old they are. */
async function samplesOf(call: ToolCall, project: number, event: string): Promise<readonly Sample[]> {
  const name = event.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
  const query = `select toString(properties) from events where event = '${name}' order by timestamp desc limit ${latestEvents}`
  const { results } = await ask(call, project, { kind: 'SqlLikeQuery', query })
  const values = new Map<string, Set<string>>()
  for (const [text] of results as readonly (readonly [string])[])
    for (const [property, value] of Object.entries(JSON.parse(text || '{}') as Readonly<Record<string, unknown>>)) {
      if (value === null || value === '' || omitted.test(property)) continue
      const known = values.get(property) ?? new Set<string>()
      values.set(property, known.add(typeof value === 'string' ? value : JSON.stringify(value)))
    }
  return [...values].map(([property, all]) => ({ property, sample_values: [...all].slice(0, exampleCount), sample_count: all.size }))
}

async function eventSection(call: ToolCall, project: number, event: string): Promise<string> {
  const path = ['projects', project, 'property_definitions'] as const
  const query = { type: 'event', event_names: JSON.stringify([event]), limit: 500 }
  const [definitions, found] = await Promise.all([
    allowed(call.api.call<Page<PropertyDefinitionAnswer>>({ path, query }, call.signal)),
    samplesOf(call, project, event),
  ])
  const types = new Map(definitions?.results.map((one) => [one.name, typeText(one)]))
  const rows = [...found]
    .sort((a, b) => b.sample_count - a.sample_count)
    .slice(0, shownProperties)
    .map(({ property, sample_values: values, sample_count: count }) => [property, types.get(property) ?? '', count, examples(values)])
  const table = { columns: ['property', 'type', 'different values', 'examples'], rows }
  return section(`Properties of the latest events of this name (at most ${latestEvents})`, table, found.length)
}

async function personSection(call: ToolCall, project: number): Promise<string | null> {
  const path = ['projects', project, 'property_definitions'] as const
  const definitions = await allowed(
    call.api.call<Page<PropertyDefinitionAnswer>>({ path, query: { type: 'person', limit: 500 } }, call.signal),
  )
  if (!definitions) return null
  if (definitions.results.length === 0) return 'No properties of people.'
  const byUse = [...definitions.results].sort((a, b) => b.count - a.count).slice(0, shownProperties)
  const samples = await ask(call, project, {
    kind: 'ActorsPropertyTaxonomyQuery',
    properties: byUse.map(({ name }) => name),
    maxPropertyValues: 4,
  })
  const rows = byUse.map((one, i) => [one.name, typeText(one), examples((samples.results as readonly Sample[])[i]?.sample_values)])
  return section('Properties of people', { columns: ['property', 'type', 'examples'], rows }, definitions.count)
}

interface Named {
  readonly id: number
  readonly name: string | null
  readonly description?: string | null
}
async function recordSection(call: ToolCall, project: number, path: string, title: string): Promise<string | null> {
  const found = await allowed(
    call.api.call<Page<Named>>({ path: ['projects', project, path], query: { limit: shownRecords } }, call.signal),
  )
  if (!found || found.results.length === 0) return null
  return section(
    title,
    { columns: ['id', 'name', 'description'], rows: found.results.map(({ id, name, description }) => [id, name, description]) },
    found.count,
  )
}

async function eventsSection(call: ToolCall, project: number, search: string | undefined): Promise<string> {
  const query = { limit: shownEvents, search }
  const known = await allowed(
    call.api.call<Page<EventDefinitionAnswer>>({ path: ['projects', project, 'event_definitions'], query }, call.signal),
  )
  if (known) {
    const rows = known.results.map(({ name, count, last_seen_at: seen, description }) => [name, count, seen, description])
    return section('Events of all time', { columns: ['event', 'count', 'last seen', 'description'], rows }, known.count)
  }
  const { results } = await ask(call, project, { kind: 'TeamTaxonomyQuery', limit: shownEvents })
  const rows = (results as readonly { event: string; count: number }[]).map(({ event, count }) => [event, count])
  return section('Events of the last 30 days', { columns: ['event', 'count'], rows })
}

interface GroupTypeAnswer {
  readonly group_type: string
  readonly group_type_index: number
}
async function groupsLine(call: ToolCall, project: number): Promise<string | null> {
  const types = await allowed(call.api.call<readonly GroupTypeAnswer[]>({ path: ['projects', project, 'groups_types'] }, call.signal))
  if (!types || types.length === 0) return null
  return section('Group types', {
    columns: ['group_type_index', 'group type'],
    rows: types.map((one) => [one.group_type_index, one.group_type]),
  })
}

/** Tables that the operator has attached, by which statements can join what is known elsewhere. */
async function attachedSection(call: ToolCall, project: number): Promise<string | null> {
  const { tables } = await ask(call, project, { kind: 'DatabaseSchemaQuery' })
  const attached = Object.values(tables as DatabaseSchemaAnswer['tables']).filter(({ type }) => type === 'attached')
  if (attached.length === 0) return null
  const rows = attached.slice(0, shownRecords).map(({ name, fields }) => [
    name,
    Object.values(fields)
      .map((field) => `${field.name} ${field.type}`)
      .join(', '),
  ])
  return section('Other tables, for joins in SQL', { columns: ['table', 'columns'], rows }, attached.length)
}

export const describeData = defineTool({
  name: 'describe_data',
  title: 'Describe data',
  description:
    'Call this first: the events of a project with their counts, properties of people with types and examples, group types, cohorts, actions. With event: the properties of that event, their types and examples.',
  input: z.object({
    project: projectField,
    event: z.string().optional().describe('Properties of this event, as it is named in the list'),
    search: z.string().optional().describe('Part of the name of an event'),
  }),
  scope: 'query:read',
  run: async ({ project: id, event, search }, call) => {
    const project = await call.project(id)
    const heading = `Project ${project.id}, time zone ${project.timezone}. ${dataNotice}`
    if (event !== undefined) return textAnswer(heading, await eventSection(call, project.id, event))
    const [events, persons, groups, cohorts, actions, attached] = await Promise.all([
      eventsSection(call, project.id, search),
      personSection(call, project.id),
      groupsLine(call, project.id),
      recordSection(call, project.id, 'cohorts', 'Cohorts'),
      recordSection(call, project.id, 'actions', 'Actions'),
      attachedSection(call, project.id),
    ])
    const hint =
      'Ask again with event for the properties of one. In SQL: events(event, timestamp, distinct_id, person_id, properties.name, person.properties.name), persons(id, created_at, properties.name).'
    return textAnswer(heading, events, persons, groups, cohorts, actions, attached, hint)
  },
})

interface ProjectRow {
  readonly id: number
  readonly name: string
  readonly timezone: string
  readonly organization?: string
}

export const listProjects = defineTool({
  name: 'list_projects',
  title: 'List projects',
  description: 'The projects that the key reaches: id, name, time zone. Other tools use the current one if none is given.',
  input: z.object({}),
  scope: 'project:read',
  run: async (_, call) => {
    const found = await allowed(call.api.call<Page<ProjectRow>>({ path: ['projects'], query: { limit: 200 } }, call.signal))
    if (found === null) {
      // A key for certain projects lists none; the current one is among those that it reaches.
      const { id, name, timezone } = await call.project(undefined)
      return textAnswer(
        'The key is for certain projects. The current one:',
        recorded(tableText({ columns: ['id', 'name', 'timezone'], rows: [[id, name, timezone]] })),
      )
    }
    return textAnswer(
      section(
        'Projects',
        { columns: ['id', 'name', 'timezone'], rows: found.results.map(({ id, name, timezone }) => [id, name, timezone]) },
        found.count,
      ),
    )
  },
})
