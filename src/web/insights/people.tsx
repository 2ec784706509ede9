import { useState } from 'preact/hooks'
import type { CohortAnswer } from '../../doors/answers/cohorts.ts'
import { post, type Query } from '../lib/api.ts'
import { numberText } from '../lib/format.ts'
import { useCohortChoices } from '../lib/named-choices.ts'
import { linkTo } from '../lib/router.ts'
import { type CurrentProject, useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { ColumnHead } from '../people/column-head.tsx'
import { shownValue } from '../people/types.ts'
import { type DownloadFormat, downloadFormats, startDownload } from '../sql/download.ts'
import { Ago } from '../ui/ago.tsx'
import { DialogButton, Form, TextField, textOf } from '../ui/forms.tsx'
import { Scroll, Search } from '../ui/list-table.tsx'
import { Dialog, Empty, ErrorBox, Select, Working } from '../ui/parts.tsx'
import { Picker } from '../ui/picker.tsx'
import { PropertyField } from './property-field.tsx'

// The people behind a number of an insight: how many, who, with which properties; as a file, as a cohort, beside a cohort.

const pageSize = 50

interface Actor {
  readonly id: string
  readonly name: string
  /** The page of the person or the group, below the project's. */
  readonly path: string
  readonly isGroup: boolean
  readonly properties: Readonly<Record<string, unknown>>
  readonly since: string | null
  /** Of what is counted; null: nothing is. */
  readonly count: number | null
}

const nameOf = (properties: Readonly<Record<string, unknown>>, ids: readonly unknown[], id: string): string =>
  String(properties.email ?? properties.name ?? properties.username ?? ids[0] ?? id)

function actorOf(value: unknown, count: number | null): Actor {
  if (typeof value === 'string')
    return { id: value, name: value, path: `people/${value}`, isGroup: false, properties: {}, since: null, count }
  const { id, properties, distinct_ids, type, group_type_index, created_at } = value as {
    id: string
    properties?: unknown
    distinct_ids?: readonly unknown[]
    type?: string
    group_type_index?: number
    created_at?: string
  }
  const known = typeof properties === 'string' ? JSON.parse(properties) : (properties ?? {})
  const isGroup = type === 'group'
  const path = isGroup ? `people/groups/${group_type_index}/${encodeURIComponent(id)}` : `people/${id}`
  return { id, name: nameOf(known, distinct_ids ?? [], id), path, isGroup, properties: known, since: created_at ?? null, count }
}

/** Columns that were added last, until the page is left. */
let keptColumns: readonly string[] = []

/** How many a query lists. */
const countOf = async (ask: CurrentProject['ask'], query: Query, signal: AbortSignal): Promise<number> => {
  const { results } = await ask({ ...query, select: ['count()'] }, signal)
  return Number((results as readonly (readonly unknown[])[])[0]?.[0] ?? 0)
}

/** What is counted of each person, where a number is one of events or paths. */
const countedBy: Readonly<Record<string, string>> = { TrendsQuery: 'Events', StickinessQuery: 'Events', PathsQuery: 'Paths' }
const countedOf = ({ kind, source }: Query): string | null =>
  (kind === 'InsightActorsQuery' && countedBy[(source as Query | undefined)?.kind ?? '']) || null

/** `source` is the question that lists them. */
export function People({ title, source, onClose }: { title: string; source: Query; onClose: () => void }) {
  const { ask } = useProject()
  const [offset, setOffset] = useState(0)
  const [search, setSearch] = useState('')
  const [columns, setColumns] = useState(keptColumns)
  const query: Query = { kind: 'ActorsQuery', source, ...(search !== '' && { search }) }
  const asked = JSON.stringify(query)
  const counted = countedOf(source)
  const { value, error, isLoading, cancel, reload } = useLoaded(
    (signal) => ask({ ...query, select: ['actor', ...(counted ? ['event_count'] : [])], limit: pageSize, offset }, signal),
    [asked, offset],
  )
  const count = useLoaded((signal) => countOf(ask, query, signal), [asked]).value
  const actors = ((value?.results ?? []) as readonly (readonly unknown[])[]).map(([actor, count]) =>
    actorOf(actor, typeof count === 'number' ? count : null),
  )
  const isOfGroups = actors[0]?.isGroup === true
  const show = (next: readonly string[]) => {
    keptColumns = next
    setColumns(next)
  }
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <div class="people-tools">
        <Search
          label="Search the people"
          placeholder="Name, e-mail address or distinct id"
          value={search}
          onChange={(text) => {
            setSearch(text)
            setOffset(0)
          }}
        />
        {!isOfGroups && (
          <PropertyField
            label="Show a property as a column"
            placeholder="Add a column"
            value={null}
            whose={['person']}
            onChoose={(choice) => 'key' in choice && !columns.includes(choice.key) && show([...columns, choice.key])}
          />
        )}
      </div>
      {count !== undefined && count !== null && (
        <p class="people-count" role="status">
          <strong>{numberText(count)}</strong> {isOfGroups ? (count === 1 ? 'group' : 'groups') : count === 1 ? 'person' : 'people'}
          {search !== '' && ' found'}
        </p>
      )}
      {actors.length > 0 && <Use query={query} title={title} columns={columns} count={count ?? null} isOfGroups={isOfGroups} />}
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && <Working what="Looking for the people" cancel={cancel} />}
      {!error && value && actors.length === 0 && <Empty title="Nobody" />}
      {actors.length > 0 && <PeopleTable actors={actors} counted={counted} columns={isOfGroups ? [] : columns} onColumns={show} />}
      {(offset > 0 || value?.hasMore === true) && (
        <div class="pager">
          <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - pageSize))}>
            Previous
          </button>
          <span class="note">
            {numberText(offset + 1)} to {numberText(offset + actors.length)}
          </span>
          <button type="button" disabled={value?.hasMore !== true} onClick={() => setOffset(offset + pageSize)}>
            Next
          </button>
        </div>
      )}
    </Dialog>
  )
}

function PeopleTable({
  actors,
  counted,
  columns,
  onColumns,
}: {
  actors: readonly Actor[]
  counted: string | null
  columns: readonly string[]
  onColumns: (columns: readonly string[]) => void
}) {
  const { link } = useProject()
  const hasTimes = actors.some(({ since }) => since !== null)
  return (
    <Scroll label="People">
      <table class="rows">
        <thead>
          <tr>
            <th>Name</th>
            {counted !== null && <th class="number">{counted}</th>}
            {columns.map((name) => (
              <ColumnHead key={name} name={name} onRemove={() => onColumns(columns.filter((one) => one !== name))} />
            ))}
            {hasTimes && <th>First seen</th>}
          </tr>
        </thead>
        <tbody class="people">
          {actors.map(({ id, name, path, properties, since, count }) => (
            <tr key={id}>
              <td class="clip">
                <a href={linkTo(link(path))}>{name}</a>
              </td>
              {counted !== null && <td class="number">{count === null ? '' : numberText(count)}</td>}
              {columns.map((column) => (
                <td key={column} class="clip">
                  {shownValue(properties[column])}
                </td>
              ))}
              {hasTimes && (
                <td class="when">
                  <Ago of={since} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

const quoted = (name: string): string => `properties['${name.replace(/[\\']/g, (found) => `\\${found}`)}']`

/** What can be done with all of them. */
function Use({
  query,
  title,
  columns,
  count,
  isOfGroups,
}: {
  query: Query
  title: string
  columns: readonly string[]
  count: number | null
  isOfGroups: boolean
}) {
  const { api, link, mayChange } = useProject()
  const [saved, setSaved] = useState<CohortAnswer | null>(null)
  const [refused, setRefused] = useState<Error | null>(null)
  const [compared, setCompared] = useState<number | null>(null)
  const { choices: cohorts, isReading } = useCohortChoices()
  const download = (format: DownloadFormat) => {
    setRefused(null)
    const select = isOfGroups ? ['id', 'group'] : ['id', 'person_display_name', 'created_at', ...columns.map(quoted)]
    startDownload(api('query/export/'), { ...query, select }, format, setRefused)
  }
  return (
    <>
      <div class="row">
        {!isOfGroups && mayChange && (
          <DialogButton label="Save as cohort" title="Save as cohort">
            {(close) => (
              <Form
                submit={count === null ? 'Save' : `Save ${numberText(count)} ${count === 1 ? 'person' : 'people'}`}
                send={async (form) => {
                  setSaved(await post<CohortAnswer>(api('cohorts/'), { name: textOf(form, 'name'), is_static: true, query }))
                  close()
                }}
              >
                <TextField
                  name="name"
                  label="Name"
                  value={title}
                  required
                  autofocus
                  isSelected
                  hint="A list of these people as they are now: it changes only when somebody changes it."
                />
              </Form>
            )}
          </DialogButton>
        )}
        <Select
          label="Download"
          value=""
          options={[{ value: '', label: 'Download …' }, ...downloadFormats]}
          onChange={(format) => format !== '' && download(format as DownloadFormat)}
        />
        {!isOfGroups && (
          <Picker
            label="Compare with a cohort"
            placeholder="Compare with a cohort"
            text={cohorts.find(({ of }) => of === compared)?.label ?? ''}
            choices={cohorts}
            isReading={isReading}
            onChoose={setCompared}
          />
        )}
      </div>
      {saved && (
        <p role="status">
          Saved as cohort <a href={linkTo(link(`cohorts/${saved.id}`))}>{saved.name}</a> with {numberText(saved.count)}{' '}
          {saved.count === 1 ? 'person' : 'people'}.
        </p>
      )}
      {refused && <ErrorBox error={refused} isReply />}
      {compared !== null && count !== null && <Overlap query={query} cohort={compared} count={count} />}
    </>
  )
}

/** How many of them are in a cohort, and how many of the cohort are not among them. */
function Overlap({ query, cohort, count }: { query: Query; cohort: number; count: number }) {
  const { ask } = useProject()
  const members = [{ type: 'cohort', key: 'id', value: cohort, operator: 'in' }]
  const { value, error, isLoading } = useLoaded(
    async (signal) => ({
      both: await countOf(ask, { ...query, fixedProperties: members }, signal),
      all: await countOf(ask, { kind: 'ActorsQuery', fixedProperties: members }, signal),
    }),
    [JSON.stringify(query), cohort],
  )
  if (error) return <ErrorBox error={error} />
  if (!value || isLoading) return <Working what="Comparing" />
  return (
    <table class="rows overlap">
      <tbody>
        <tr>
          <th>Here and in the cohort</th>
          <td class="number">{numberText(value.both)}</td>
        </tr>
        <tr>
          <th>Only here</th>
          <td class="number">{numberText(count - value.both)}</td>
        </tr>
        <tr>
          <th>Only in the cohort</th>
          <td class="number">{numberText(value.all - value.both)}</td>
        </tr>
      </tbody>
    </table>
  )
}
