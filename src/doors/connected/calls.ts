import type { Project, Waymark } from '../../waymark.ts'

// The calls that reach the owner of a directory from another process.

/**
 * Whether a call is made again if the owner ends before it answers. `again`: a second one changes nothing more. `once`: it fails then, because it may have been
 * carried out.
 */
export type Repetition = 'again' | 'once'

type Asked<T> = { readonly [Name in keyof T as T[Name] extends (...args: never) => Promise<unknown> ? Name : never]: Repetition }

/** Not the calls that open and close, which each process answers itself. */
const directoryCalls = {
  createProject: 'once',
  findOrCreateProject: 'again',
  project: 'again',
  projects: 'again',
  createPersonalKey: 'once',
  defaultOrganization: 'again',
  createOrganization: 'once',
  createSetupLink: 'again',
  removeHostUser: 'again',
  backup: 'again',
  compact: 'again',
  restoreProject: 'once',
} as const satisfies Omit<Asked<Waymark>, 'close' | typeof Symbol.asyncDispose>

/** `take` is `ingest` with the id of the attempt, from which events get the same uuids each time. Arrow has a form of its own. */
const projectCalls = {
  take: 'again',
  importPersons: 'again',
  importGroups: 'again',
  definePropertyTypes: 'again',
  createAction: 'once',
  createCohort: 'once',
  viewerToken: 'again',
  query: 'again',
  queryStatus: 'again',
  cancelQuery: 'again',
  events: 'again',
  properties: 'again',
  warnings: 'again',
} as const satisfies Omit<Asked<Project>, 'ingest' | 'sql' | 'queryArrow'> & { readonly take: Repetition }

const actionCalls = {
  list: 'again',
  retrieve: 'again',
  create: 'once',
  update: 'once',
  remove: 'once',
} as const satisfies Asked<Project['actions']>

const cohortCalls = {
  list: 'again',
  retrieve: 'again',
  create: 'once',
  update: 'once',
  remove: 'once',
  refresh: 'again',
  count: 'again',
  states: 'again',
} as const satisfies Asked<Project['cohorts']>

/** A repeated import continues after what is stored. */
const fileCalls = { importFiles: 'again' } as const

/** Of `waymark serve`. */
const serverCalls = { firstStart: 'again', allowFirstOwner: 'again' } as const

export const allCalls = {
  directory: directoryCalls,
  server: serverCalls,
  project: projectCalls,
  actions: actionCalls,
  cohorts: cohortCalls,
  files: fileCalls,
} as const
