import { followed, localOf } from '../../following.ts'
import type { NewProjectSettings } from '../../service/accounts/projects/project-fields.ts'
import type { GivenBackfill, GivenExport, GivenExportChange } from '../../service/exports/fields.ts'
import type { DashboardChange, DashboardInput } from '../../service/saved/dashboard-fields.ts'
import type { InsightInput } from '../../service/saved/insights.ts'
import type { SavedFilterChange, SavedFilterInput } from '../../service/saved/saved-filters.ts'
import type { WatchName } from '../../service/watching/names.ts'
import type { Waymark } from '../../waymark.ts'
import type { BackfillAnswer, BatchExportAnswer, ExportRunAnswer } from '../answers/batch-exports.ts'
import type { DashboardAnswer, WholeDashboardAnswer } from '../answers/dashboards.ts'
import type { AnsweredInsightAnswer, SavedFilterAnswer, SavedInsightAnswer } from '../answers/insights.ts'
import type { WatchAnswer, WatchesAnswer } from '../answers/notifications.ts'
import type { DeletionAnswer, PersonAnswer, PersonCohortsAnswer } from '../answers/persons.ts'
import type { ProjectAnswer } from '../answers/projects.ts'
import type { PropertyDefinitionAnswer } from '../answers/property-definitions.ts'
import type { ExplainedQueryAnswer, SlowQueryAnswer } from '../answers/query.ts'
import type { Send } from '../http/server/operator.ts'
import { ClientError } from './client-error.ts'
import type { FileImportOptions, FileImportSummary } from './import-files.ts'

// Records of an open directory by typed calls: what the HTTP API does, in this process. Each call is one route; docs/http.md describes them.

/** A project, or its id. */
export type ProjectOrId = number | { readonly id: number }
export interface ListPage<T> {
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly results: readonly T[]
}
export interface Bounds {
  readonly limit?: number
  readonly offset?: number
}
/** Bytes as they are read: `for await`, or `pipeline(stream, createWriteStream(file))`. */
export type ByteStream = ReadableStream<Uint8Array>

export interface PersonSelection extends Bounds {
  /** Part of the email, the name, the uuid or a distinct id, ignoring case. */
  readonly search?: string
  readonly distinct_id?: string
  readonly email?: string
  readonly cohort?: number
  readonly properties?: readonly object[]
}

/** Persons are given by their uuid or a distinct id. */
export interface PersonCalls {
  list(project: ProjectOrId, selection?: PersonSelection): Promise<ListPage<PersonAnswer>>
  retrieve(project: ProjectOrId, person: string): Promise<PersonAnswer>
  cohorts(project: ProjectOrId, person: string): Promise<PersonCohortsAnswer['results']>
  /** Sets properties; those that are not named stay. */
  update(project: ProjectOrId, person: string, properties: Readonly<Record<string, unknown>>): Promise<PersonAnswer>
  removeProperty(project: ProjectOrId, person: string, name: string): Promise<PersonAnswer>
  /** Makes other persons, given by their uuids, part of this one. */
  merge(project: ProjectOrId, person: string, uuids: readonly string[]): Promise<PersonAnswer>
  /** Makes persons of distinct ids; all but the first one unless they are named. */
  split(project: ProjectOrId, person: string, distinctIds?: readonly string[]): Promise<PersonAnswer>
  /** Everything that is stored about a person, as lines of JSON. */
  everything(project: ProjectOrId, person: string): Promise<ByteStream>
  /** Deletes a person. Its events stay without one unless they are deleted too, which cannot be undone. Returns a receipt. */
  remove(project: ProjectOrId, person: string, options?: DeletionOptions): Promise<DeletionAnswer>
  /** The same for up to 100,000 persons, or for as many members of a cohort. */
  removeMany(project: ProjectOrId, persons: DeletedPersons, options?: DeletionOptions): Promise<DeletionAnswer>
  /** The receipts of deletions, the newest first. */
  deletions(project: ProjectOrId, bounds?: Bounds): Promise<ListPage<DeletionAnswer>>
  deletion(project: ProjectOrId, id: string): Promise<DeletionAnswer>
}
export interface DeletionOptions {
  /** Also deletes all events of the persons. */
  readonly events?: boolean
}
/** Uuids, distinct ids, or the id of a cohort. */
export type DeletedPersons =
  | { readonly ids: readonly string[] }
  | { readonly distinct_ids: readonly string[] }
  | { readonly cohort: number }

export interface RemovedProperty {
  readonly type: 'event' | 'person' | 'group'
  readonly name: string
  /** Of groups. */
  readonly group_type_index?: number
}

export interface ProjectCalls {
  /** All settings of a project. */
  retrieve(project: ProjectOrId): Promise<ProjectAnswer>
  update(project: ProjectOrId, settings: Omit<NewProjectSettings, 'api_token' | 'is_demo'>): Promise<ProjectAnswer>
  /** Deletes a property from all that is stored. Null: it never came. */
  removeProperty(project: ProjectOrId, property: RemovedProperty): Promise<DeletionAnswer | null>
  /** Deletes a project with its events and all that belongs to it. */
  remove(project: ProjectOrId): Promise<void>
}

export interface InsightCalls {
  list(project: ProjectOrId, selection?: Bounds & { readonly search?: string }): Promise<ListPage<SavedInsightAnswer>>
  create(project: ProjectOrId, fields: InsightInput): Promise<AnsweredInsightAnswer>
  /** With its result. */
  retrieve(project: ProjectOrId, id: number | string): Promise<AnsweredInsightAnswer>
  update(project: ProjectOrId, id: number | string, fields: InsightInput): Promise<AnsweredInsightAnswer>
  remove(project: ProjectOrId, id: number | string): Promise<void>
}

export interface DashboardCalls {
  list(project: ProjectOrId, selection?: Bounds & { readonly search?: string }): Promise<ListPage<DashboardAnswer>>
  create(project: ProjectOrId, fields: DashboardInput): Promise<WholeDashboardAnswer>
  /** With its tiles and their results. */
  retrieve(project: ProjectOrId, id: number): Promise<WholeDashboardAnswer>
  update(project: ProjectOrId, id: number, fields: DashboardChange): Promise<WholeDashboardAnswer>
  remove(project: ProjectOrId, id: number): Promise<void>
}

export interface SavedFilterCalls {
  list(project: ProjectOrId, selection?: Bounds & { readonly search?: string }): Promise<ListPage<SavedFilterAnswer>>
  create(project: ProjectOrId, fields: SavedFilterInput): Promise<SavedFilterAnswer>
  retrieve(project: ProjectOrId, id: string): Promise<SavedFilterAnswer>
  update(project: ProjectOrId, id: string, fields: SavedFilterChange): Promise<SavedFilterAnswer>
  remove(project: ProjectOrId, id: string): Promise<void>
}

export interface BatchExportCalls {
  list(project: ProjectOrId, bounds?: Bounds): Promise<ListPage<BatchExportAnswer>>
  create(project: ProjectOrId, fields: GivenExport): Promise<BatchExportAnswer>
  retrieve(project: ProjectOrId, id: string): Promise<BatchExportAnswer>
  update(project: ProjectOrId, id: string, fields: GivenExportChange): Promise<BatchExportAnswer>
  remove(project: ProjectOrId, id: string): Promise<void>
  pause(project: ProjectOrId, id: string): Promise<BatchExportAnswer>
  unpause(project: ProjectOrId, id: string, options?: { readonly backfill?: boolean }): Promise<BatchExportAnswer>
  backfill(project: ProjectOrId, id: string, range: GivenBackfill): Promise<BackfillAnswer>
  /** Its runs of the last seven days, the newest first. */
  runs(project: ProjectOrId, id: string): Promise<readonly ExportRunAnswer[]>
}

/** What the owners of an organization get mails about. */
export interface WatchCalls {
  list(project: ProjectOrId): Promise<readonly WatchAnswer[]>
  update(project: ProjectOrId, name: WatchName, change: { readonly enabled: boolean }): Promise<WatchAnswer>
}

/** Queries that took long. */
export interface SlowQueryCalls {
  list(project: ProjectOrId, bounds?: Bounds): Promise<ListPage<SlowQueryAnswer>>
  /** Asks one again, with `explain`. */
  explain(project: ProjectOrId, id: string): Promise<ExplainedQueryAnswer>
}

export interface Client {
  readonly persons: PersonCalls
  readonly projects: ProjectCalls
  readonly insights: InsightCalls
  readonly dashboards: DashboardCalls
  readonly savedFilters: SavedFilterCalls
  readonly batchExports: BatchExportCalls
  readonly watches: WatchCalls
  readonly slowQueries: SlowQueryCalls
  /** All rows of a query as a file, without the row limit of an answer. */
  download(project: ProjectOrId, query: object, format: 'csv' | 'spreadsheet' | 'jsonl' | 'parquet' | 'arrow'): Promise<ByteStream>
  /** Imports files of events, as `waymark import` does. A repeated import continues after what is stored. */
  importFiles(project: ProjectOrId, files: string | readonly string[], options?: FileImportOptions): Promise<FileImportSummary>
}

/** Results are computed unless they are current. */
const computed = { refresh: 'blocking' }

/** Parts of a path. */
type Path = readonly (string | number)[]
interface Sent {
  readonly query?: object
  readonly body?: object
}

/** What a client needs of a directory that may be open in another process. */
export interface ClientParts {
  readonly send: Send
  importFiles(project: number, files: readonly string[], options?: FileImportOptions): Promise<FileImportSummary>
}

interface Routes {
  readonly send: Send
  addressOf(path: string, parameters?: object): URL
}
const loaded = new WeakMap<Waymark, Promise<Routes>>()
/** The routes of an open directory, for all its clients. */
function routesOf(waymark: Waymark): Promise<Routes> {
  const known =
    loaded.get(waymark) ??
    import('../http/server/operator.ts').then(({ sendAsOperator, addressOf }) => ({
      send: followed<ClientParts>(waymark)?.send ?? sendAsOperator(localOf(waymark)),
      addressOf,
    }))
  loaded.set(waymark, known)
  return known
}

/**
 * Typed calls for the records of an open directory, in every organization: persons, settings, insights, dashboards, exports, files. The routes are loaded by the first call.
 *
 * @example const client = createClient(waymark); await client.persons.remove(project, 'u1', { events: true })
 */
export function createClient(waymark: Waymark): Client {
  const respond = async (method: string, project: ProjectOrId, path: Path, { query, body }: Sent = {}): Promise<Response> => {
    const id = typeof project === 'number' ? project : project.id
    const routes = await routesOf(waymark)
    const url = routes.addressOf(`/api/projects/${[id, ...path].map(encodeURIComponent).join('/')}/`, query)
    const content = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await routes.send(new Request(url, { method, ...content }))
    if (response.ok) return response
    throw new ClientError(response.status, (await response.json()) as ConstructorParameters<typeof ClientError>[1])
  }
  // The routes' own schemas are behind the types: tests hold every answer against them.
  const call = async <T>(...args: Parameters<typeof respond>): Promise<T> => (await (await respond(...args)).json()) as T
  const done = async (...args: Parameters<typeof respond>): Promise<void> => void (await (await respond(...args)).body?.cancel())
  const bytes = async (...args: Parameters<typeof respond>): Promise<ByteStream> => (await respond(...args)).body as ByteStream

  const records = <Answer, Item, Input extends object, Change extends object>(name: string, reading = {}) => ({
    list: (project: ProjectOrId, query: object = {}) => call<ListPage<Item>>('GET', project, [name], { query }),
    create: (project: ProjectOrId, body: Input) => call<Answer>('POST', project, [name], { body }),
    retrieve: (project: ProjectOrId, id: string | number) => call<Answer>('GET', project, [name, id], { query: reading }),
    update: (project: ProjectOrId, id: string | number, body: Change) => call<Answer>('PATCH', project, [name, id], { body }),
  })
  const removal = (name: string) => (project: ProjectOrId, id: string | number) => done('DELETE', project, [name, id])
  /** Records that can be restored are marked. */
  const marked = (name: string) => (project: ProjectOrId, id: string | number) =>
    done('PATCH', project, [name, id], { body: { deleted: true } })
  const changed = async (project: ProjectOrId, person: string, change: string, body: object) =>
    (await call<{ person: PersonAnswer }>('POST', project, ['persons', person, change], { body })).person

  return {
    persons: {
      list: (project, query = {}) => call('GET', project, ['persons'], { query }),
      retrieve: (project, person) => call('GET', project, ['persons', person]),
      cohorts: async (project, person) =>
        (await call<PersonCohortsAnswer>('GET', project, ['persons', 'cohorts'], { query: { person_id: person } })).results,
      update: (project, person, properties) => call('PATCH', project, ['persons', person], { body: { properties } }),
      removeProperty: (project, person, name) => changed(project, person, 'delete_property', { $unset: name }),
      merge: (project, person, ids) => changed(project, person, 'merge', { ids }),
      split: (project, person, ids) => changed(project, person, 'split', ids ? { distinct_ids_to_split: ids } : {}),
      everything: (project, person) => bytes('GET', project, ['persons', person, 'everything']),
      remove: (project, person, { events = false } = {}) =>
        call('DELETE', project, ['persons', person], { query: { delete_events: events } }),
      removeMany: (project, persons, { events = false } = {}) =>
        call('POST', project, ['persons', 'bulk_delete'], { body: { ...persons, delete_events: events } }),
      deletions: (project, query = {}) => call('GET', project, ['person_deletions'], { query }),
      deletion: (project, id) => call('GET', project, ['person_deletions', id]),
    },
    projects: {
      retrieve: (project) => call('GET', project, []),
      update: (project, settings) => call('PATCH', project, [], { body: settings }),
      removeProperty: async (project, { name, ...of }) => {
        const query = { ...of, properties: JSON.stringify([name]) }
        const { results } = await call<ListPage<PropertyDefinitionAnswer>>('GET', project, ['property_definitions'], { query })
        const [found] = results
        return found ? call('POST', project, ['property_definitions', found.id, 'delete_values']) : null
      },
      remove: (project) => done('DELETE', project, []),
    },
    insights: {
      ...records<AnsweredInsightAnswer, SavedInsightAnswer, InsightInput, InsightInput>('insights', computed),
      remove: marked('insights'),
    },
    dashboards: {
      ...records<WholeDashboardAnswer, DashboardAnswer, DashboardInput, DashboardChange>('dashboards', computed),
      remove: marked('dashboards'),
    },
    savedFilters: {
      ...records<SavedFilterAnswer, SavedFilterAnswer, SavedFilterInput, SavedFilterChange>('saved_filters'),
      remove: removal('saved_filters'),
    },
    batchExports: {
      ...records<BatchExportAnswer, BatchExportAnswer, GivenExport, GivenExportChange>('batch_exports'),
      remove: removal('batch_exports'),
      pause: (project, id) => call('POST', project, ['batch_exports', id, 'pause']),
      unpause: (project, id, body = {}) => call('POST', project, ['batch_exports', id, 'unpause'], { body }),
      backfill: (project, id, body) => call('POST', project, ['batch_exports', id, 'backfills'], { body }),
      runs: async (project, id) =>
        (await call<{ results: readonly ExportRunAnswer[] }>('GET', project, ['batch_exports', id, 'runs'])).results,
    },
    watches: {
      list: async (project) => (await call<WatchesAnswer>('GET', project, ['watches'])).results,
      update: (project, name, body) => call('PATCH', project, ['watches', name], { body }),
    },
    slowQueries: {
      list: (project, query = {}) => call('GET', project, ['slow_queries'], { query }),
      explain: (project, id) => call('POST', project, ['slow_queries', id, 'explain']),
    },
    download: (project, query, format) => bytes('POST', project, ['query', 'export'], { body: { query, format } }),
    importFiles: async (project, files, options) => {
      const [id, paths] = [typeof project === 'number' ? project : project.id, typeof files === 'string' ? [files] : files]
      const elsewhere = followed<ClientParts>(waymark)
      if (elsewhere) return elsewhere.importFiles(id, paths, options)
      const { importFiles } = await import('./import-files.ts')
      return importFiles(localOf(waymark), id, paths, options)
    },
  }
}
