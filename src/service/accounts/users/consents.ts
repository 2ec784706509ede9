import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { WaymarkError } from '../../../errors/errors.ts'
import type { AccountContext } from '../context.ts'
import { check, integer, listOf, text } from '../fields.ts'
import type { User } from '../records.ts'
import { invalid } from '../refusals.ts'
import { hashKey } from '../secrets/secrets.ts'
import { type ConsentScope, consentScopes, scopesOfConsent } from './agent-scopes.ts'
import { takeOnce } from './passkeys.ts'
import type { createPersonalKeys } from './personal-keys.ts'

// OAuth 2.1 for applications of a user, as agents are: the application says who it is, the user consents in the pages, and the application gets a personal key. Nothing is stored
// before that: the id of an application and the code of a consent are sealed texts.

const codeLifetime = 60_000
const longest = { address: 500, client: 2_500, id: 4_000, code: 4_000, name: 100, label: 40 }
const mostAddresses = 10
const [aboutClient, aboutCode] = ['oauth client', 'oauth code']

/** The error codes of RFC 6749 and 7591. */
export type ConsentErrorCode =
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
export class ConsentError extends Error {
  readonly code: ConsentErrorCode
  constructor(code: ConsentErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export interface ConsentClient {
  readonly name: string
  readonly addresses: readonly string[]
}
interface Code {
  readonly user: number
  readonly client: string
  readonly name: string
  readonly address: string
  readonly challenge: string
  readonly scope: ConsentScope
  readonly projects: readonly number[]
  readonly expiresAt: number
  readonly once: string
}

const isLoopback = ({ hostname }: URL) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
/** What a browser would run, or read from the machine, instead of sending it to the application. */
const neverAddressed = /^(javascript|data|vbscript|file|blob|about|filesystem|view-source|ws|wss|ftp|mailto):/i

/** An address of https, of this machine, or of a scheme that an application has registered. */
function isAddress(given: string): boolean {
  if (given.length > longest.address || given.includes('#') || !URL.canParse(given) || neverAddressed.test(given)) return false
  const url = new URL(given)
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'http:' ? isLoopback(url) : true
}

/** Applications on the machine of the user listen on a port that is free at that time. */
function isSameAddress(asked: string, registered: string): boolean {
  if (asked === registered) return true
  if (!URL.canParse(asked) || !URL.canParse(registered)) return false
  const [one, other] = [new URL(asked), new URL(registered)]
  if (one.protocol !== 'http:' || other.protocol !== 'http:' || !isLoopback(one) || !isLoopback(other)) return false
  return one.hostname === other.hostname && one.pathname === other.pathname && one.search === other.search
}

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

const registration = z.looseObject({ client_name: z.unknown().optional(), redirect_uris: z.unknown().optional() })

/** What an application sends the browser with. */
export const consentRequest = z.object({
  client_id: text({ max: longest.id }),
  redirect_uri: text({ max: longest.address }),
  response_type: text({ max: 100 }),
  code_challenge: text({ max: 128 }),
  code_challenge_method: text({ max: 100 }),
  scope: text({ max: 1_000, blank: true }).nullish(),
  state: text({ max: 2_000, blank: true }).nullish(),
  resource: text({ max: 500, blank: true }).nullish(),
})
export const consentInput = consentRequest.extend({
  /** What the user grants, which may be less. */
  granted: z.enum(consentScopes),
  /** Empty: all of the user's. */
  projects: listOf(integer(1)),
})

const scopeOf = (asked: string | null | undefined): ConsentScope => {
  const words = (asked ?? '').split(' ').filter((word) => word !== '')
  const strange = words.find((word) => !(consentScopes as readonly string[]).includes(word))
  if (strange !== undefined)
    throw new ConsentError('invalid_scope', `There is no scope ${strange.slice(0, 100)}. There are: ${consentScopes.join(', ')}.`)
  return words.includes('write') || words.length === 0 ? 'write' : 'read'
}

/** An application as it says of itself. */
function clientIn(body: unknown): ConsentClient {
  const given = check(registration, body)
  const addresses = Array.isArray(given.redirect_uris) ? (given.redirect_uris as unknown[]) : []
  if (addresses.length === 0 || addresses.length > mostAddresses)
    throw new ConsentError('invalid_redirect_uri', `redirect_uris must be a list of 1 to ${mostAddresses} addresses.`)
  const strange = addresses.find((one) => typeof one !== 'string' || !isAddress(one))
  if (strange !== undefined)
    throw new ConsentError(
      'invalid_redirect_uri',
      `${String(strange).slice(0, 100)} cannot be an address to answer at: it must begin with https, with http for this machine, or with the scheme of an application.`,
    )
  const name =
    typeof given.client_name === 'string'
      ? given.client_name
          .replace(/[\p{C}\s]+/gu, ' ')
          .trim()
          .slice(0, longest.name)
      : ''
  return {
    name: name || new URL(addresses[0] as string).host || 'An application',
    addresses: addresses as string[],
  }
}

/** What the page asks the user. */
export interface Asked {
  readonly client: ConsentClient
  readonly scope: ConsentScope
}

export const createConsents = (context: AccountContext, personalKeys: ReturnType<typeof createPersonalKeys>) => {
  const { box, clock, store } = context

  const opened = <T>(sealed: string, about: string, most: number): T | null => {
    if (sealed.length > most) return null
    try {
      return JSON.parse(box.open(sealed, about)) as T
    } catch {
      return null // changed by somebody, or of a key that is gone
    }
  }
  const clientOf = (id: string): ConsentClient => {
    const client = opened<ConsentClient>(id, aboutClient, longest.id)
    if (!client)
      throw new ConsentError('invalid_client', 'This application is not registered here. It can register itself at /oauth/register.')
    return client
  }
  const asked = (request: z.infer<typeof consentRequest>): Asked => {
    const client = clientOf(request.client_id)
    if (!client.addresses.some((one) => isSameAddress(request.redirect_uri, one)))
      throw new ConsentError('invalid_request', `${client.name} has not registered the address that it asks to be answered at.`)
    if (request.response_type !== 'code') throw new ConsentError('unsupported_response_type', 'response_type must be code.')
    if (request.code_challenge_method !== 'S256' || !/^[\w-]{43}$/.test(request.code_challenge))
      throw new ConsentError(
        'invalid_request',
        'code_challenge must be the SHA-256 hash of a secret in base64url, and code_challenge_method S256.',
      )
    return { client, scope: scopeOf(request.scope) }
  }
  const answerAt = (address: string, parameters: Readonly<Record<string, string | null | undefined>>): string => {
    const url = new URL(address)
    for (const [name, value] of Object.entries(parameters)) if (value != null) url.searchParams.set(name, value)
    return url.href
  }

  return {
    /** The application as it registered itself; its id says everything, so that nothing is kept. */
    register(body: unknown) {
      const client = clientIn(body)
      const whole = JSON.stringify(client)
      if (whole.length > longest.client)
        throw new ConsentError(
          'invalid_client_metadata',
          `The name and the addresses are longer than ${longest.client} characters together.`,
        )
      return { id: box.seal(whole, aboutClient), ...client }
    },

    asked,

    /** The user said yes: where the browser goes with the code. */
    async grant(user: User, body: unknown, issuer: string): Promise<string> {
      const given = check(consentInput, body)
      const { client, scope } = asked(given)
      if (given.granted === 'write' && scope === 'read') throw invalid(`${client.name} asks to read only.`, 'granted')
      await personalKeys.mayHaveAnother(store.read, user)
      const code: Code = {
        user: user.id,
        client: hashKey(given.client_id),
        name: client.name,
        address: given.redirect_uri,
        challenge: given.code_challenge,
        scope: given.granted,
        projects: given.projects,
        expiresAt: clock().getTime() + codeLifetime,
        once: randomBytes(16).toString('base64url'),
      }
      return answerAt(given.redirect_uri, { code: box.seal(JSON.stringify(code), aboutCode), state: given.state, iss: issuer })
    },

    /** The user said no. */
    refuse(body: unknown, issuer: string): string {
      const given = check(consentRequest.loose(), body)
      asked(given)
      return answerAt(given.redirect_uri, {
        error: 'access_denied',
        error_description: 'The user refused.',
        state: given.state,
        iss: issuer,
      })
    },

    /** A personal key for the code of a consent, once. */
    async redeem(form: Readonly<Record<string, unknown>>): Promise<{ readonly value: string; readonly scope: ConsentScope }> {
      const field = (name: string): string => {
        const value = form[name]
        if (typeof value !== 'string' || value === '') throw new ConsentError('invalid_request', `${name} is missing.`)
        return value
      }
      if (field('grant_type') !== 'authorization_code')
        throw new ConsentError('unsupported_grant_type', 'grant_type must be authorization_code.')
      const refused = () =>
        new ConsentError('invalid_grant', 'This code is not valid, was used before, or is older than a minute. Ask the user once more.')
      const code = opened<Code>(field('code'), aboutCode, longest.code)
      const verifier = field('code_verifier')
      if (!code || code.expiresAt <= clock().getTime() || verifier.length > 128 || challengeOf(verifier) !== code.challenge) throw refused()
      if (hashKey(field('client_id')) !== code.client || (form.redirect_uri !== undefined && form.redirect_uri !== code.address))
        throw refused()
      const user = await store.read.users.first({ id: code.user })
      if (!user?.is_active) throw refused()
      const isFirst = await store.write((tables) => takeOnce(tables, user, { challenge: code.once, expiresAt: code.expiresAt }, clock()))
      if (!isFirst) throw refused()
      const key = { label: code.name.slice(0, longest.label), scopes: scopesOfConsent(code.scope), scoped_teams: code.projects }
      const { value } = await personalKeys.create(user, key).catch((error: unknown) => {
        throw error instanceof WaymarkError ? new ConsentError('invalid_grant', error.message) : error
      })
      return { value, scope: code.scope }
    },
  }
}
