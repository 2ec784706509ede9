import { InternalError } from '../../errors/errors.ts'
import type { GroupImportOptions } from '../../events/ingestion/decoding/inputs.ts'
import type { WarningSummary } from '../../events/ingestion/warnings.ts'
import type { GroupChange, PersonChange } from '../../events/ingestion/work.ts'
import type { KnownEvent, KnownProperty, NamesAsked, NamesFound } from '../../language/catalog/known-names.ts'
import type { HistoryAsked, PersonVersion } from '../../language/catalog/person-history.ts'
import type { PropertyScope, RemovalCounts } from '../../language/catalog/removals.ts'
import type { StoreFacts } from '../../language/catalog/store-facts.ts'
import type { ExportRows } from '../../service/exports/ports.ts'
import type { EventReader } from '../../service/plugins/delivery/ports.ts'
import type { ActionService } from '../definitions/actions.ts'
import type { CohortService } from '../definitions/cohorts.ts'
import type { StoreDigest } from '../execution/ports.ts'
import type { StoreSpace } from '../storage/store-space.ts'

// The calls of a project with one answer each. `local-backend.ts` implements them; a project that is opened on demand, and one whose store is in another process,
// make theirs from this table. What streams rows, and queries with their progress, are methods of `ProjectBackend` itself.

/** Persons, groups and types as users change them. Each resolves when the change is stored. */
export interface Records {
  importPersons(rows: unknown): Promise<{ readonly ids: readonly string[] }>
  importGroups(rows: unknown, options: GroupImportOptions): Promise<void>
  definePropertyTypes(rows: unknown): Promise<void>
  /** For each change, whether its person exists. */
  changePersons(changes: readonly PersonChange[]): Promise<readonly boolean[]>
  /** For each person, how many distinct ids it had; null if there is no such person. */
  deletePersons(persons: readonly string[], withEvents: boolean): Promise<readonly (number | null)[]>
  /** Sets and removes properties of groups that exist. */
  changeGroup(change: GroupChange): Promise<void>
  /** Removes a property from everything that is stored. */
  removeProperty(scope: PropertyScope, name: string): Promise<RemovalCounts>
  /** Removes the events that an import has stored, and persons that only it has made. Repeated, it removes what is left. */
  removeImport(id: string): Promise<RemovalCounts>
  /** Removes what the project does not keep any more. Returns also what queries have removed since the last call. */
  removeOld(): Promise<RemovalCounts>
}

/** What is known about the events received so far. */
export interface KnownFacts {
  events(): Promise<readonly KnownEvent[]>
  properties(): Promise<readonly KnownProperty[]>
  eventNames(asked: NamesAsked): Promise<NamesFound<KnownEvent>>
  propertyNames(asked: NamesAsked): Promise<NamesFound<KnownProperty>>
  /** The number of events that were deleted so far. */
  removedEvents(): Promise<number>
  /** The number of events of an import that are stored. */
  importedEvents(id: string): Promise<number>
  personHistory(asked: HistoryAsked): Promise<readonly PersonVersion[]>
  groupTypes(): Promise<StoreFacts['groupTypes']>
  warnings(): Promise<readonly WarningSummary[]>
  /** What the store says, with the records that are applied. */
  digest(): Promise<StoreDigest>
}

export interface ProjectCalls {
  readonly records: Records
  readonly known: KnownFacts
  readonly actions: ActionService
  readonly cohorts: Omit<CohortService, 'refreshes'>
  readonly exportRows: Omit<ExportRows, 'stage'>
  readonly storedEvents: EventReader
  readonly space: StoreSpace
}

/** Whether a call is made again if the engine ends before it answers: a second one must change nothing more. */
type Repetition = 'repeated' | 'once'

const calls: { readonly [S in keyof ProjectCalls]: { readonly [M in keyof ProjectCalls[S]]: Repetition } } = {
  records: {
    importPersons: 'repeated',
    importGroups: 'repeated',
    definePropertyTypes: 'repeated',
    changePersons: 'repeated',
    deletePersons: 'repeated',
    changeGroup: 'repeated',
    removeProperty: 'repeated',
    removeImport: 'repeated',
    removeOld: 'repeated',
  },
  known: {
    events: 'repeated',
    properties: 'repeated',
    eventNames: 'repeated',
    propertyNames: 'repeated',
    removedEvents: 'repeated',
    importedEvents: 'repeated',
    personHistory: 'repeated',
    groupTypes: 'repeated',
    warnings: 'repeated',
    digest: 'repeated',
  },
  actions: { list: 'repeated', retrieve: 'repeated', create: 'once', update: 'once', remove: 'once' },
  cohorts: {
    list: 'repeated',
    retrieve: 'repeated',
    create: 'once',
    update: 'once',
    remove: 'once',
    refresh: 'repeated',
    count: 'repeated',
    states: 'repeated',
  },
  exportRows: { measure: 'repeated', columns: 'repeated', positionAt: 'repeated', firstTime: 'repeated' },
  storedEvents: { range: 'repeated', at: 'repeated' },
  space: { measure: 'repeated', copy: 'once', discard: 'repeated' },
}

/** One call, as it is sent. */
export interface ProjectCall {
  readonly service: keyof ProjectCalls
  readonly method: string
  readonly args: readonly unknown[]
}

/** All calls of a project, made by a function that forwards each of them. */
export function forwardedCalls(forward: (call: ProjectCall, isRepeatable: boolean) => Promise<unknown>): ProjectCalls {
  const methodsOf = ([service, methods]: [string, Readonly<Record<string, Repetition>>]) => {
    const forwarded = Object.entries(methods).map(([method, repetition]) => [
      method,
      (...args: readonly unknown[]) => forward({ service: service as keyof ProjectCalls, method, args }, repetition === 'repeated'),
    ])
    return [service, Object.fromEntries(forwarded)]
  }
  return Object.fromEntries(Object.entries(calls).map(methodsOf)) as ProjectCalls
}

/** Makes a call on what implements it. */
export function callOn(target: ProjectCalls, { service, method, args }: ProjectCall): Promise<unknown> {
  if (!Object.hasOwn(calls, service) || !Object.hasOwn(calls[service], method))
    throw new InternalError(`A project has no call ${service}.${method}`)
  const methods = target[service] as unknown as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>
  return methods[method]!(...args)
}
