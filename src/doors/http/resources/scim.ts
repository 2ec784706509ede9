import type { Role, User } from '../../../service/accounts/records.ts'
import { type Comparison, readFilter } from '../../../service/accounts/scim/expressions.ts'
import { patchInput } from '../../../service/accounts/scim/operations.ts'
import type { Provider } from '../../../service/accounts/scim/tokens.ts'
import type { ProvidedUser } from '../../../service/accounts/scim/users.ts'
import { providerOf, scimMedia } from '../access/scim.ts'
import { fromOf } from '../access/session-cookies.ts'
import { failures } from '../errors.ts'
import { defineResource, Reply, type Row, type RowMaker, type Visit } from '../resource.ts'
import { discovery } from './scim-discovery.ts'
import { locationOf, pageOf, presentGroup, presentUser, projected, rangeOf, wants } from './scim-format.ts'
import { scimGroupInput, scimGroupSchema, scimListOf, scimUserInput, scimUserSchema } from './scim-schemas.ts'

// SCIM 2.0 (RFC 7644): the identity provider of a proven domain provisions users with addresses of the domain, and groups, which are roles.

const scimReply = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Reply(status, body, { 'content-type': scimMedia, ...headers })

type Provided = (visit: Visit, provider: Provider) => Promise<Reply>
const asProvider = (work: Provided) => async (visit: Visit) => work(visit, await providerOf(visit))

const filterOf = ({ query }: Visit): readonly Comparison[] => {
  const filter = query.get('filter')
  return filter === null || filter.trim() === '' ? [] : readFilter(filter)
}
const idOf = ({ params }: Visit): string => params.id ?? ''

const shownUser = async (visit: Visit, provider: Provider, one: ProvidedUser) => {
  const groups = wants(visit.query, 'groups') ? await visit.app.accounts.scim.groups.of(provider, one.user) : []
  return projected(visit.query, presentUser(visit, one, groups))
}
const userReply = async (visit: Visit, provider: Provider, one: ProvidedUser, status = 200) =>
  scimReply(status, await shownUser(visit, provider, one), status === 201 ? { location: locationOf(visit, `Users/${one.user.uuid}`) } : {})

const listUsers: Provided = async (visit, provider) => {
  const { startIndex, count } = rangeOf(visit.query)
  const all = await visit.app.accounts.scim.users.list(provider, filterOf(visit))
  const page = all.slice(startIndex - 1, startIndex - 1 + count)
  return scimReply(200, pageOf(all.length, startIndex, await Promise.all(page.map((one) => shownUser(visit, provider, one)))))
}

/** Members of all groups of a page together. A page ends before, unless its first group has more. */
const mostMembersOnPage = 20_000

const shownGroup = (visit: Visit, role: Role, members: readonly User[] | null) => projected(visit.query, presentGroup(visit, role, members))
const groupReply = async (visit: Visit, provider: Provider, role: Role, status = 200) => {
  const members = wants(visit.query, 'members') ? (await visit.app.accounts.scim.groups.withMembers(provider, role)).members : null
  return scimReply(status, shownGroup(visit, role, members), status === 201 ? { location: locationOf(visit, `Groups/${role.id}`) } : {})
}

const listGroups: Provided = async (visit, provider) => {
  const { startIndex, count } = rangeOf(visit.query)
  const { groups } = visit.app.accounts.scim
  const all = await groups.list(provider, filterOf(visit))
  const hasMembers = wants(visit.query, 'members')
  const page: unknown[] = []
  let shown = 0
  for (const role of all.slice(startIndex - 1, startIndex - 1 + count)) {
    const members = hasMembers ? (await groups.withMembers(provider, role)).members : null
    shown += members?.length ?? 0
    if (page.length > 0 && shown > mostMembersOnPage) break
    page.push(shownGroup(visit, role, members))
  }
  return scimReply(200, pageOf(all.length, startIndex, page))
}

const shownParameters = {
  attributes: 'Only these attributes, with commas between them',
  excludedAttributes: 'All attributes but these',
  aadOptscim062020: 'Ignored: a flag of Entra ID for its own behavior',
}
const listParameters = {
  filter: 'Comparisons with `eq`, joined by `and`: `userName eq "ann@example.com"`',
  startIndex: 'The first of the page, from 1',
  count: 'Resources per page, at most 200 (default 100)',
  ...shownParameters,
}

const common = { isFromElsewhere: true } as const

const discoveryRows = (row: RowMaker<'open'>): readonly Row[] => {
  const open = (name: string, path: string, summary: string, read: (visit: Visit) => unknown) =>
    row({
      ...common,
      method: 'GET',
      path,
      name,
      summary,
      queryParameters: { aadOptscim062020: shownParameters.aadOptscim062020 },
      handle: async (visit) => {
        const found = read(visit)
        if (found === null) throw failures.notFound()
        return scimReply(200, found)
      },
    })
  return [
    open('configuration', 'ServiceProviderConfig', 'What this server supports. Open, as the next four are', discovery.configuration),
    open('resource_types', 'ResourceTypes', 'Users and groups', discovery.resourceTypes),
    open('resource_type', 'ResourceTypes/:id', 'One of them', discovery.resourceType),
    open('schemas', 'Schemas', 'The attributes of users and groups', discovery.schemas),
    open('schema', 'Schemas/:id', 'Those of one', discovery.schema),
  ]
}

const userRows = (row: RowMaker<'open'>): readonly Row[] => {
  const rowOf = (given: Pick<Row, 'method' | 'name' | 'summary'> & Partial<Row> & { readonly work: Provided }) => {
    const { work, ...rest } = given
    return row({ ...common, answer: scimUserSchema, queryParameters: shownParameters, ...rest, handle: asProvider(work) })
  }
  return [
    rowOf({
      method: 'GET',
      path: 'Users',
      name: 'users',
      summary:
        'Users with an address of the domain that belong to its organization, and those that were deactivated. With the token of the domain, as all that follow',
      queryParameters: listParameters,
      answer: scimListOf(scimUserSchema),
      work: listUsers,
    }),
    rowOf({
      method: 'POST',
      path: 'Users',
      name: 'create_user',
      summary: 'Makes an account, or lets an existing one join the organization, as a viewer',
      body: scimUserInput,
      status: 201,
      work: async (visit, provider) =>
        userReply(visit, provider, await visit.app.accounts.scim.users.create(provider, visit.body, fromOf(visit)), 201),
    }),
    rowOf({
      method: 'GET',
      path: 'Users/:id',
      name: 'user',
      summary: 'One user',
      work: async (visit, provider) => userReply(visit, provider, await visit.app.accounts.scim.users.byId(provider, idOf(visit))),
    }),
    rowOf({
      method: 'PUT',
      path: 'Users/:id',
      name: 'replace_user',
      summary: 'Changes a user; what is not named stays as it is',
      body: scimUserInput,
      work: async (visit, provider) =>
        userReply(visit, provider, await visit.app.accounts.scim.users.replace(provider, idOf(visit), visit.body, fromOf(visit))),
    }),
    rowOf({
      method: 'PATCH',
      path: 'Users/:id',
      name: 'patch_user',
      summary: 'Changes a user. With `active` false the membership, all sessions and all personal API keys of the user end',
      body: patchInput,
      work: async (visit, provider) =>
        userReply(visit, provider, await visit.app.accounts.scim.users.patch(provider, idOf(visit), visit.body, fromOf(visit))),
    }),
    rowOf({
      method: 'DELETE',
      path: 'Users/:id',
      name: 'remove_user',
      summary: 'The same, and the identity provider knows the user no more. The account and its work stay',
      answer: null,
      work: async (visit, provider) => {
        await visit.app.accounts.scim.users.remove(provider, idOf(visit), fromOf(visit))
        return new Reply(204, undefined)
      },
    }),
  ]
}

const groupRows = (row: RowMaker<'open'>): readonly Row[] => {
  const rowOf = (given: Pick<Row, 'method' | 'name' | 'summary'> & Partial<Row> & { readonly work: Provided }) => {
    const { work, ...rest } = given
    return row({ ...common, answer: scimGroupSchema, queryParameters: shownParameters, ...rest, handle: asProvider(work) })
  }
  return [
    rowOf({
      method: 'GET',
      path: 'Groups',
      name: 'groups',
      summary: 'The groups that were made with the token. Each is a role of the organization',
      queryParameters: listParameters,
      answer: scimListOf(scimGroupSchema),
      work: listGroups,
    }),
    rowOf({
      method: 'POST',
      path: 'Groups',
      name: 'create_group',
      summary: 'Makes a role, which gives nothing until an administrator opens a project to it',
      body: scimGroupInput,
      status: 201,
      work: async (visit, provider) =>
        groupReply(visit, provider, await visit.app.accounts.scim.groups.create(provider, visit.body, fromOf(visit)), 201),
    }),
    rowOf({
      method: 'GET',
      path: 'Groups/:id',
      name: 'group',
      summary: 'One group',
      work: async (visit, provider) => groupReply(visit, provider, await visit.app.accounts.scim.groups.byId(provider, idOf(visit))),
    }),
    rowOf({
      method: 'PUT',
      path: 'Groups/:id',
      name: 'replace_group',
      summary: 'Changes a group; `members` are all that it has, of the domain',
      body: scimGroupInput,
      work: async (visit, provider) =>
        groupReply(visit, provider, await visit.app.accounts.scim.groups.replace(provider, idOf(visit), visit.body, fromOf(visit))),
    }),
    rowOf({
      method: 'PATCH',
      path: 'Groups/:id',
      name: 'patch_group',
      summary: 'Changes a group, and adds or removes members',
      body: patchInput,
      status: 204,
      answer: null,
      work: async (visit, provider) => {
        await visit.app.accounts.scim.groups.patch(provider, idOf(visit), visit.body, fromOf(visit))
        return new Reply(204, undefined)
      },
    }),
    rowOf({
      method: 'DELETE',
      path: 'Groups/:id',
      name: 'remove_group',
      summary: 'Removes the role, and the access that it gives',
      answer: null,
      work: async (visit, provider) => {
        await visit.app.accounts.scim.groups.remove(provider, idOf(visit), fromOf(visit))
        return new Reply(204, undefined)
      },
    }),
  ]
}

export const scim = defineResource({
  name: 'scim',
  summary: 'SCIM 2.0, for the identity provider of a proven domain: users with addresses of the domain, and groups',
  path: '/scim/v2',
  reach: 'open',
  object: null,
  limits: ['scim'],
  rows: (row) => [...discoveryRows(row), ...userRows(row), ...groupRows(row)],
})
