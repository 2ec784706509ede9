import type { z } from 'zod'
import type { ActingMember } from '../accounts/acting-member.ts'
import type { Scope, ScopeObject } from '../accounts/personal-keys.ts'
import type { LevelName, Membership, Organization, ProjectRecord } from '../accounts/records.ts'
import type { App } from './app.ts'
import type { Caller } from './authenticate.ts'
import type { LimitName } from './rate-limits.ts'
import type { Site } from './site.ts'

// One resource per file, one row per route. The rows are all there is: routing, permission checks, the API description, the reference page and the
// authorization matrix are read from them.

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * Whose things a route is about, which decides who may come near it.
 * open: anybody. user: who is logged in. organization, project: the members of the one in the path, others get 403.
 * organization record, project record: the same, but for others the record is not there (404).
 */
export type Reach = 'open' | 'user' | 'organization' | 'organization record' | 'project' | 'project record'

export interface Visit {
  readonly app: App
  readonly request: Request
  readonly url: URL
  readonly site: Site
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The body as it came; rows with a schema get it checked by the service they call. */
  readonly body: unknown
  readonly caller: Caller | null
  /** Ends the connection of an answer that has begun and cannot be finished. False when the handler does not know its connection. */
  readonly breakOff: (error: unknown) => boolean
}
interface UserVisit extends Visit {
  readonly caller: Caller
}
export interface OrganizationVisit extends UserVisit {
  /** For what the caller changes. */
  readonly by: ActingMember
  readonly organization: Organization
  readonly membership: Membership
}
export interface ProjectVisit extends OrganizationVisit {
  readonly project: ProjectRecord
}
export interface Visits {
  readonly open: Visit
  readonly user: UserVisit
  readonly organization: OrganizationVisit
  readonly 'organization record': OrganizationVisit
  readonly project: ProjectVisit
  readonly 'project record': ProjectVisit
}

/** An answer that is more than a body with the row's status. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body: unknown,
    /** Several values of one name are several headers. */
    readonly headers: Readonly<Record<string, string | readonly string[]>> = {},
  ) {}
}

export interface Row<R extends Reach = Reach> {
  readonly method: Method
  /** Below the resource's path. */
  readonly path: string
  /** Unique over all rows, `members.update`. */
  readonly name: string
  readonly summary: string
  readonly reach: R
  /** The lowest level of membership that may come in. */
  readonly level: LevelName
  /** The scope that a key needs. `none`: keys are not accepted; `any`: every key is. */
  readonly scope: Scope | 'none' | 'any'
  /**
   * Where the path names neither an organization nor a project: which limited keys may come in. What the row shows them is what the caller's
   * `limits` reach. `none`: it concerns more than any limit covers; `organization`: keys limited to organizations; `any`: keys limited to projects too.
   */
  readonly limitedKeys: 'none' | 'organization' | 'any'
  /** Needs a login of the last hours, when it is not a key that calls. */
  readonly needsRecentLogin: boolean
  readonly body: z.ZodType | null
  /** A body of `text/csv` is its field `csv`, and files of a form are fields of text. */
  readonly takesCsv: boolean
  readonly queryParameters: Readonly<Record<string, string>>
  readonly status: number
  /** A POST that creates records: idempotent with an `Idempotency-Key`. */
  readonly isCreating: boolean
  /** Fields that are sent once: a retry with the same `Idempotency-Key` has null there. */
  readonly secrets: readonly string[]
  /** The shape of the answer; null: no body. */
  readonly answer: z.ZodType | null
  /** The handler returns the whole list, callers get a page of it. */
  readonly isPaged: boolean
  readonly limits: readonly LimitName[]
  handle(visit: Visits[R]): Promise<unknown>
}

type Given<R extends Reach> = Pick<Row<R>, 'method' | 'summary' | 'handle'> & { readonly name: string } & Partial<
    Omit<Row<R>, 'name' | 'reach' | 'handle'>
  >
/** Takes the row of one route and fills in what follows from the resource. */
type RowMaker<D extends Reach> = <R extends Reach = D>(
  row: Given<R> & (R extends D ? { readonly reach?: R } : { readonly reach: R }),
) => Row

export interface Resource {
  readonly name: string
  readonly summary: string
  readonly path: string
  readonly reach: Reach
  readonly object: ScopeObject | null
  readonly levels: { readonly read: LevelName; readonly write: LevelName }
  /** The words for a level that is too low, where they are not the usual ones. */
  readonly tooLow: string | null
  /** Why the feature does not exist: the answer to methods without a row. */
  readonly missing: string | null
  readonly rows: readonly Row[]
}

interface Definition<D extends Reach> {
  readonly name: string
  readonly summary: string
  readonly path: string
  readonly reach: D
  /** The object of scopes; null where keys have no business. */
  readonly object: ScopeObject | null
  readonly read?: LevelName
  readonly write?: LevelName
  readonly tooLow?: string
  readonly missing?: string
  readonly limits?: readonly LimitName[]
  rows(row: RowMaker<D>): readonly Row[]
}

export const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

export const defaultScope = (object: ScopeObject | null, method: string): Scope | 'none' =>
  object === null ? 'none' : `${object}:${isReading(method) ? 'read' : 'write'}`

export const defineResource = <D extends Reach>(definition: Definition<D>): Resource => {
  const { name, reach, object, read = 'member', write = 'member', limits = ['api'] } = definition
  const row = (given: Given<Reach> & { readonly reach?: Reach }): Row => ({
    path: '',
    reach,
    level: isReading(given.method) ? read : write,
    scope: defaultScope(object, given.method),
    limitedKeys: 'none',
    needsRecentLogin: false,
    body: null,
    takesCsv: false,
    queryParameters: {},
    status: given.method === 'DELETE' ? 204 : 200,
    isCreating: given.status === 201 && (given.reach ?? reach) !== 'open', // an open route has no user whose key it would be
    secrets: [],
    answer: null,
    isPaged: false,
    limits,
    ...given,
    name: `${name}.${given.name}`,
  })
  return {
    name,
    summary: definition.summary,
    path: definition.path,
    reach,
    object,
    levels: { read, write },
    tooLow: definition.tooLow ?? null,
    missing: definition.missing ?? null,
    rows: definition.rows(row as RowMaker<D>),
  }
}
