import type * as z from 'zod'
import type { ActingMember } from '../../service/accounts/acting-member.ts'
import { type LevelName, level, type Membership, type Organization, type ProjectRecord } from '../../service/accounts/records.ts'
import type { Scope, ScopeObject } from '../../service/accounts/users/personal-keys.ts'
import type { Caller } from './access/authenticate.ts'
import type { LimitName } from './access/rate-limits.ts'
import type { App } from './app.ts'
import { largestBody } from './requests/body.ts'
import type { QueryParameter } from './requests/query-parameter.ts'
import type { Site } from './site.ts'

// One resource per file, one row per route. Routing, permission checks, the API description, the reference page and the authorization
// matrix are all derived from the rows.

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * The owner of a route's objects, which decides who has access.
 * open: anyone. user: logged-in users. organization, project: the members of the one in the path, others get 403.
 * organization record, project record: the same, but others get 404.
 */
export type Reach = 'open' | 'user' | 'organization' | 'organization record' | 'project' | 'project record'

export interface Visit {
  readonly app: App
  readonly request: Request
  readonly url: URL
  readonly site: Site
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The body as received; for rows with a schema, the service checks it. */
  readonly body: unknown
  readonly caller: Caller | null
  /** Another request of the same caller: same rights, same limits. `path` begins with `/api/`. */
  readonly again: (method: string, path: string, body: object | undefined, signal: AbortSignal) => Promise<Response>
  /** Aborts the connection of a response that has started and cannot be finished. False if the handler does not know its connection. */
  readonly breakOff: (error: unknown) => boolean
}
interface UserVisit extends Visit {
  readonly caller: Caller
}
export interface OrganizationVisit extends UserVisit {
  /** For changes by the caller. */
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

/** Administrators, and the author of a record, see addresses that may hold a token. */
export const seesAddresses = ({ membership, caller }: ProjectVisit, madeBy: number | null): boolean =>
  membership.level >= level.admin || madeBy === caller.user.id

/** A response with more than a body and the row's status. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body: unknown,
    /** Several values of one name become several headers. */
    readonly headers: Readonly<Record<string, string | readonly string[]>> = {},
  ) {}
}

export interface Row<R extends Reach = Reach> {
  readonly method: Method
  /** Relative to the resource's path. */
  readonly path: string
  /** Unique over all rows, `members.update`. */
  readonly name: string
  readonly summary: string
  readonly reach: R
  /** The lowest level of membership that is required. */
  readonly level: LevelName
  /** The scope that a key needs. `none`: keys are not accepted; `any`: every key is. */
  readonly scope: Scope | 'none' | 'any'
  /**
   * For paths without an organization or project: which limited keys are accepted. The row shows only what is within the caller's
   * `limits`. `none`: it concerns more than any limit covers; `organization`: keys limited to organizations; `any`: also keys limited to projects.
   */
  readonly limitedKeys: 'none' | 'organization' | 'any'
  /** Requires a login of the last hours, unless a key calls. */
  readonly needsRecentLogin: boolean
  /** A signed-in member without a second factor may do it although the organization requires one: what leads to a second factor. */
  readonly isBeforeSecondFactor: boolean
  readonly body: z.ZodType | null
  /** Bytes of a body. */
  readonly mostBody: number
  /** A body of `text/csv` becomes the field `csv`, and files of a form become text fields. */
  readonly takesCsv: boolean
  /** Browsers send forms of other sites to it, so it looks at no session. */
  readonly isFromElsewhere: boolean
  /** Files of a form become objects with `name`, `type` and `contents` in base64, and `field[key]` becomes the key of an object. */
  readonly takesFiles: boolean
  /** All that the URL may have: others are refused (`query-parameters.ts`). */
  readonly queryParameters: Readonly<Record<string, QueryParameter>>
  /** Why the route takes parameters that it does not know; null: it does not. */
  readonly ignoresParameters: string | null
  readonly status: number
  /** A POST that creates records: idempotent with an `Idempotency-Key`. */
  readonly isCreating: boolean
  /** Fields that are sent once: a retry with the same `Idempotency-Key` gets null. */
  readonly secrets: readonly string[]
  /** The shape of the answer; null: no body. */
  readonly answer: z.ZodType | null
  /** The handler returns the whole list, callers get a page. */
  readonly isPaged: boolean
  readonly limits: readonly LimitName[]
  handle(visit: Visits[R]): Promise<unknown>
}

type Given<R extends Reach> = Pick<Row<R>, 'method' | 'summary' | 'handle'> & { readonly name: string } & Partial<
    Omit<Row<R>, 'name' | 'reach' | 'handle'>
  >
/** Takes the row of one route and adds defaults from the resource. */
export type RowMaker<D extends Reach> = <R extends Reach = D>(
  row: Given<R> & (R extends D ? { readonly reach?: R } : { readonly reach: R }),
) => Row

export interface Resource {
  readonly name: string
  readonly summary: string
  readonly path: string
  readonly reach: Reach
  readonly object: ScopeObject | null
  /** A path without a project is about the caller's current one. */
  readonly isOfCurrentProject: boolean
  readonly levels: { readonly read: LevelName; readonly write: LevelName }
  /** The error text for a level that is too low, if not the usual one. */
  readonly tooLow: string | null
  /** Why the feature does not exist: the answer to methods without a row. */
  readonly missing: string | null
  readonly rows: readonly Row[]
}

export interface Definition<D extends Reach> {
  readonly name: string
  readonly summary: string
  readonly path: string
  readonly reach: D
  /** The object name in scopes; null if keys are not accepted. */
  readonly object: ScopeObject | null
  readonly read?: LevelName
  readonly write?: LevelName
  readonly tooLow?: string
  readonly missing?: string
  readonly limits?: readonly LimitName[]
  readonly isOfCurrentProject?: boolean
  rows(row: RowMaker<D>): readonly Row[]
}

export const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

export const defaultScope = (object: ScopeObject | null, method: string): Scope | 'none' =>
  object === null ? 'none' : `${object}:${isReading(method) ? 'read' : 'write'}`

/** Questions may be sent by POST: the scope says so. */
const changesNothing = ({ method, scope }: Pick<Given<Reach>, 'method' | 'scope'>) => isReading(method) || scope?.endsWith(':read') === true

export const defineResource = <D extends Reach>(definition: Definition<D>): Resource => {
  const { name, reach, object, read = 'viewer', write = 'member', limits = ['api'] } = definition
  const row = (given: Given<Reach> & { readonly reach?: Reach }): Row => ({
    path: '',
    reach,
    level: changesNothing(given) ? read : write,
    scope: defaultScope(object, given.method),
    limitedKeys: 'none',
    needsRecentLogin: false,
    isBeforeSecondFactor: false,
    body: null,
    mostBody: largestBody,
    takesCsv: false,
    isFromElsewhere: false,
    takesFiles: false,
    queryParameters: {},
    ignoresParameters: null,
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
    isOfCurrentProject: definition.isOfCurrentProject ?? false,
    levels: { read, write },
    tooLow: definition.tooLow ?? null,
    missing: definition.missing ?? null,
    rows: definition.rows(row as RowMaker<D>),
  }
}
