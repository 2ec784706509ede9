import type { Visit } from '../resource.ts'
import { locationOf, mostOnPage, pageOf, schemaOf } from './scim-format.ts'

// What a client of SCIM can read before it begins (RFC 7643, sections 5 to 7).

const attribute = (name: string, description: string, more: object = {}) => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...more,
})
const complex = (name: string, description: string, subAttributes: readonly object[], more: object = {}) =>
  attribute(name, description, { type: 'complex', subAttributes, ...more })

const userAttributes = [
  attribute('userName', 'The e-mail address of the account, of the domain that the token is for', { required: true, uniqueness: 'server' }),
  attribute('externalId', 'The id that the identity provider has given the user', { caseExact: true }),
  complex('name', 'The name of the user', [
    attribute('formatted', 'The whole name', { mutability: 'readOnly' }),
    attribute('givenName', 'The first name'),
    attribute('familyName', 'The last name'),
  ]),
  attribute('displayName', 'The name as the identity provider shows it'),
  attribute('active', 'Whether the user belongs to the organization', { type: 'boolean' }),
  complex(
    'emails',
    'The work address, as it was sent',
    [attribute('value', 'The address'), attribute('type', 'work'), attribute('primary', 'true', { type: 'boolean' })],
    { multiValued: true },
  ),
  complex(
    'groups',
    'The groups that the user is in',
    [attribute('value', 'The id of a group', { mutability: 'readOnly' }), attribute('display', 'Its name', { mutability: 'readOnly' })],
    { multiValued: true, mutability: 'readOnly' },
  ),
]
const groupAttributes = [
  attribute('displayName', 'The name of the role', { required: true, uniqueness: 'server' }),
  attribute('externalId', 'The id that the identity provider has given the group', { caseExact: true }),
  complex(
    'members',
    'Users with addresses of the domain',
    [attribute('value', 'The id of a user', { mutability: 'immutable' }), attribute('display', 'The address', { mutability: 'readOnly' })],
    { multiValued: true },
  ),
]

const schemaSchema = 'urn:ietf:params:scim:schemas:core:2.0:Schema'
const schemas = (visit: Visit) =>
  (
    [
      [schemaOf.user, 'User', 'An account that belongs to the organization', userAttributes],
      [schemaOf.group, 'Group', 'A role of the organization', groupAttributes],
    ] as const
  ).map(([id, name, description, attributes]) => ({
    schemas: [schemaSchema],
    id,
    name,
    description,
    attributes,
    meta: { resourceType: 'Schema', location: locationOf(visit, `Schemas/${id}`) },
  }))

const resourceTypes = (visit: Visit) =>
  (
    [
      ['User', '/Users', schemaOf.user],
      ['Group', '/Groups', schemaOf.group],
    ] as const
  ).map(([name, endpoint, schema]) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint,
    schema,
    schemaExtensions: [],
    meta: { resourceType: 'ResourceType', location: locationOf(visit, `ResourceTypes/${name}`) },
  }))

const configuration = (visit: Visit) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: mostOnPage },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token of a domain, which an administrator makes in Settings → Domains',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: locationOf(visit, 'ServiceProviderConfig') },
})

const listOf = <T>(all: readonly T[]) => pageOf(all.length, 1, all)
const idOf = (visit: Visit) => decodeURIComponent(visit.params.id ?? '').toLowerCase()
const byId = <T extends { readonly id: string }>(all: readonly T[], visit: Visit): T | null =>
  all.find(({ id }) => id.toLowerCase() === idOf(visit)) ?? null

export const discovery = {
  configuration,
  schemas: (visit: Visit) => listOf(schemas(visit)),
  schema: (visit: Visit) => byId(schemas(visit), visit),
  resourceTypes: (visit: Visit) => listOf(resourceTypes(visit)),
  resourceType: (visit: Visit) => byId(resourceTypes(visit), visit),
} as const
