import * as z from 'zod'
import { withinJson } from '../../../limits/bounds.ts'
import { check } from '../../../service/accounts/fields.ts'
import { consentScopes } from '../../../service/accounts/users/agent-scopes.ts'
import { ConsentError, consentInput, consentRequest } from '../../../service/accounts/users/consents.ts'
import { type ConsentAnswer, consentSchema, leadsToSchema } from '../../answers/personal-keys.ts'
import { baseOf, redirect } from '../access/single-sign-on.ts'
import { failures } from '../errors.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

// OAuth 2.1 for agents and other applications (RFC 6749, 7591, 7636, 8414, 9728): an application registers itself, leads its user here, and gets a personal key.

const unkept = { 'cache-control': 'no-store' }

/** Errors as these protocols have them. */
const said = async (work: () => Promise<Reply>): Promise<Reply> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error
    return new Reply(error.code === 'invalid_client' ? 401 : 400, { error: error.code, error_description: error.message }, unkept)
  }
}
/** The same for the page, whose routes answer errors in the form of the API. */
const told = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error
    throw failures.invalid(error.message, error.code === 'invalid_client' ? 'client_id' : 'redirect_uri')
  }
}

const object = z.looseObject({})
/** Of any form: what is wrong is said as the protocol says it. */
const fieldsNamed = (...names: readonly string[]) =>
  withinJson(z.object(Object.fromEntries(names.map((name) => [name, z.unknown().optional()]))), 'json')
const registration = fieldsNamed(
  'client_name',
  'redirect_uris',
  'client_uri',
  'logo_uri',
  'grant_types',
  'response_types',
  'scope',
  'token_endpoint_auth_method',
)
const exchange = fieldsNamed('grant_type', 'code', 'code_verifier', 'client_id', 'redirect_uri', 'resource', 'scope')

/** Where a client that has no key yet learns how to get one. */
export const resourceMetadataOf = (at: Pick<Visit, 'site' | 'url'>): string => `${baseOf(at)}/.well-known/oauth-protected-resource/mcp`

const resourceMetadata = (base: string) => ({
  resource: `${base}/mcp`,
  resource_name: 'Waymark',
  authorization_servers: [base],
  scopes_supported: [...consentScopes],
  bearer_methods_supported: ['header'],
})

const serverMetadata = (base: string) => ({
  issuer: base,
  authorization_endpoint: `${base}/oauth/authorize`,
  token_endpoint: `${base}/oauth/token`,
  registration_endpoint: `${base}/oauth/register`,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  scopes_supported: [...consentScopes],
  authorization_response_iss_parameter_supported: true,
})

const asksIn = (query: URLSearchParams) =>
  check(consentRequest, Object.fromEntries([...query].filter(([name]) => name in consentRequest.shape)))

const metadataRows = (paths: readonly string[], metadata: (base: string) => object) =>
  paths.map((path, i) => ({ path, name: `metadata${i === 0 ? '' : `_${i + 1}`}`, metadata }))

export const consentMetadata = defineResource({
  name: 'oauth_metadata',
  summary: 'What applications read before they ask for a consent ([agents.md](agents.md#connect))',
  path: '/.well-known',
  reach: 'open',
  object: null,
  rows: (row) =>
    [
      ...metadataRows(['oauth-protected-resource', 'oauth-protected-resource/mcp'], resourceMetadata).map((one) => ({
        ...one,
        name: `resource_${one.name}`,
        summary: 'Who gives access to `/mcp` (RFC 9728)',
      })),
      ...metadataRows(['oauth-authorization-server', 'openid-configuration'], serverMetadata).map((one) => ({
        ...one,
        name: `server_${one.name}`,
        summary: 'Where an application registers, asks and gets its key (RFC 8414)',
      })),
    ].map(({ path, name, summary, metadata }) =>
      row({
        method: 'GET',
        path,
        name,
        summary,
        limits: ['shared'],
        answer: object,
        handle: async (visit) => metadata(baseOf(visit)),
      }),
    ),
})

const authorize = (visit: Visit): Promise<Reply> => {
  const { query } = visit
  const { asked } = visit.app.accounts.consents
  // Nothing is answered at an address that is not known to be the application's.
  told(() => asked(asksIn(query)))
  return Promise.resolve(redirect(`${baseOf(visit)}/#/consent?${query}`, []))
}

const fieldsOfRequest = {
  client_id: 'As `/oauth/register` answered',
  redirect_uri: 'One of the registered addresses; on this machine with any port',
  response_type: '`code`',
  code_challenge: 'The SHA-256 hash of a secret of the application, in base64url',
  code_challenge_method: '`S256`',
  scope: '`read`, or `read write`, which also saves insights, dashboards, annotations and cohorts',
  state: 'Comes back as it is',
  resource: 'The address of `/mcp`',
}

export const oauth = defineResource({
  name: 'oauth',
  summary: 'Access for an application that its user consents to, as agents ask for it ([agents.md](agents.md#connect))',
  path: '/oauth',
  reach: 'open',
  object: null,
  rows: (row) => [
    row({
      method: 'POST',
      path: 'register',
      name: 'register',
      summary: 'Registers an application by its `client_name` and `redirect_uris` (RFC 7591). Nothing is kept: the id says it all',
      limits: ['shared'],
      body: registration,
      status: 201,
      answer: object,
      handle: ({ app, body }) =>
        said(async () => {
          const { id, name, addresses } = app.accounts.consents.register(check(registration, body))
          const client = {
            client_id: id,
            client_name: name,
            redirect_uris: addresses,
            token_endpoint_auth_method: 'none',
            grant_types: ['authorization_code'],
            response_types: ['code'],
          }
          return new Reply(201, client, unkept)
        }),
    }),
    row({
      method: 'GET',
      path: 'authorize',
      name: 'authorize',
      summary: 'Leads the browser of a user to the page that asks for the consent',
      limits: ['shared'],
      queryParameters: fieldsOfRequest,
      ignoresParameters: 'Applications add parameters of later versions of the protocol.',
      status: 302,
      handle: authorize,
    }),
    row({
      method: 'POST',
      path: 'token',
      name: 'token',
      summary: 'A personal key for the code of a consent, with the secret whose hash was sent before; once, within a minute',
      limits: ['shared'],
      body: exchange,
      answer: object,
      handle: ({ app, body }) =>
        said(async () => {
          const { value, scope } = await app.accounts.consents.redeem(check(exchange, body))
          return new Reply(200, { access_token: value, token_type: 'Bearer', scope }, unkept)
        }),
    }),
  ],
})

export const consents = defineResource({
  name: 'consents',
  summary: 'What the page of consents asks and sends, for the user who is signed in. A key cannot consent',
  path: '/api/consents',
  reach: 'user',
  object: null,
  rows: (row) => [
    row({
      method: 'GET',
      name: 'retrieve',
      summary: 'Which application asks, for what, and where the answer goes',
      queryParameters: fieldsOfRequest,
      ignoresParameters: 'The page passes on what the application sent.',
      answer: consentSchema,
      handle: async ({ app, query }): Promise<ConsentAnswer> => {
        const request = asksIn(query)
        const { client, scope } = told(() => app.accounts.consents.asked(request))
        const { protocol, host } = new URL(request.redirect_uri)
        return { client_name: client.name, scope, answered_at: host === '' ? protocol : `${protocol}//${host}` }
      },
    }),
    row({
      method: 'POST',
      name: 'grant',
      summary: 'Consents: answers where the browser goes, with the code for the application',
      needsRecentLogin: true,
      body: consentInput,
      answer: leadsToSchema,
      secrets: ['leads_to'],
      handle: async (visit) => {
        const { app, caller, body } = visit
        try {
          return { leads_to: await app.accounts.consents.grant(caller.user, body, baseOf(visit)) }
        } catch (error) {
          return told(() => {
            throw error
          })
        }
      },
    }),
    row({
      method: 'POST',
      path: 'refuse',
      name: 'refuse',
      summary: 'Refuses: answers where the browser goes, so that the application is told',
      body: consentRequest,
      answer: leadsToSchema,
      handle: async (visit) => ({ leads_to: told(() => visit.app.accounts.consents.refuse(visit.body, baseOf(visit))) }),
    }),
  ],
})
