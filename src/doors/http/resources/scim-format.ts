import type { Role, User } from '../../../service/accounts/records.ts'
import { refused } from '../../../service/accounts/scim/refusals.ts'
import { displayNameOf, isActive, type ProvidedUser, workEmailOf } from '../../../service/accounts/scim/users.ts'
import { baseOf } from '../access/single-sign-on.ts'
import { time } from '../present.ts'
import type { Visit } from '../resource.ts'
import type { ScimGroupAnswer, ScimUserAnswer } from './scim-schemas.ts'

// The resources of SCIM, and their pages.

export const schemaOf = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
} as const
const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

export const locationOf = (visit: Visit, path: string): string => `${baseOf(visit)}/scim/v2/${path}`

export const presentUser = (visit: Visit, one: ProvidedUser, groups: readonly Role[]): ScimUserAnswer => {
  const { user, said } = one
  return {
    schemas: [schemaOf.user],
    id: user.uuid,
    ...(said?.external_id && { externalId: said.external_id }),
    userName: user.email,
    name: { formatted: `${user.first_name} ${user.last_name}`.trim(), givenName: user.first_name, familyName: user.last_name },
    displayName: displayNameOf(one),
    active: isActive(one),
    emails: [{ value: workEmailOf(one), type: 'work', primary: true }],
    groups: groups.map(({ id, name }) => ({ value: id, display: name })),
    meta: {
      resourceType: 'User',
      created: time(user.date_joined),
      lastModified: time(said?.updated_at ?? user.date_joined),
      location: locationOf(visit, `Users/${user.uuid}`),
    },
  }
}

/** `members`: null: not asked for. */
export const presentGroup = (visit: Visit, role: Role, members: readonly User[] | null): ScimGroupAnswer => ({
  schemas: [schemaOf.group],
  id: role.id,
  ...(role.external_id && { externalId: role.external_id }),
  displayName: role.name,
  ...(members && { members: members.map(({ uuid, email }) => ({ value: uuid, display: email })) }),
  meta: { resourceType: 'Group', created: time(role.created_at), location: locationOf(visit, `Groups/${role.id}`) },
})

export const pageOf = <T>(all: readonly T[] | number, startIndex: number, resources: readonly T[]) => ({
  schemas: [listSchema],
  totalResults: typeof all === 'number' ? all : all.length,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
})

/** A page has at most as many. */
export const mostOnPage = 200
const usualPage = 100

const wholeNumber = (query: URLSearchParams, name: string, usual: number): number => {
  const text = query.get(name)
  if (text === null || text === '') return usual
  if (!/^-?\d{1,9}$/.test(text)) throw refused('invalidValue', `\`${name}\` must be a whole number.`)
  return Number(text)
}
/** From 1; less counts as 1, as RFC 7644 wants it. */
export const rangeOf = (query: URLSearchParams): { readonly startIndex: number; readonly count: number } => ({
  startIndex: Math.max(1, wholeNumber(query, 'startIndex', 1)),
  count: Math.min(mostOnPage, Math.max(0, wholeNumber(query, 'count', usualPage))),
})

const namesIn = (query: URLSearchParams, name: string): ReadonlySet<string> | null => {
  const text = query.get(name)?.slice(0, 2_000)
  return text ? new Set(text.split(',').map((one) => one.trim().toLowerCase().split('.')[0]!)) : null
}
const always: ReadonlySet<string> = new Set(['schemas', 'id', 'meta'])
/** Whether `attributes` and `excludedAttributes` want this one. */
export const wants = (query: URLSearchParams, name: string): boolean => {
  const [only, without] = [namesIn(query, 'attributes'), namesIn(query, 'excludedAttributes')]
  const key = name.toLowerCase()
  return always.has(key) || ((only === null || only.has(key)) && !without?.has(key))
}
export const projected = <T extends object>(query: URLSearchParams, resource: T): Partial<T> =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => wants(query, name))) as Partial<T>
