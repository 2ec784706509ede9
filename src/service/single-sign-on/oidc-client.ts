import type * as OpenIdClient from 'openid-client'
import type { Vouched } from '../accounts/single-sign-on/identities.ts'
import { signOnFailed } from './failures.ts'
import type { Fetching } from './ports.ts'

// OpenID Connect with the package openid-client: authorization code with PKCE, state and nonce. GitHub has no id token: its API says who it is.

/** What a provider is asked as. */
export interface Client {
  readonly kind: 'oidc' | 'github'
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
}
/** What the browser brings back: kept in its cookie, encrypted. */
export interface Secrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}
/** Claims about a person, after every check of their form and signature. */
export type Claims = Pick<Vouched, 'issuer' | 'subject' | 'email' | 'firstName' | 'lastName'> & {
  /** Null: the provider does not say. */
  readonly emailVerified: boolean | null
  /** Google: the Workspace that manages the account. */
  readonly workspace: string | null
}

type Library = typeof OpenIdClient
export const oidcPackage = 'openid-client' // not an import that a bundler should look for
const load = async (): Promise<Library> => {
  try {
    return (await import(oidcPackage)) as Library
  } catch (error) {
    throw signOnFailed('not_installed', error)
  }
}
export const isInstalled = (): Promise<boolean> =>
  load().then(
    () => true,
    () => false,
  )

const timeoutMs = 10_000
/** How long what an issuer publishes about itself is used. Keys that it does not have are fetched by the library. */
const freshMs = 3_600_000
const longest = 20_000

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const splitName = (name: string): { firstName: string; lastName: string } => {
  const [firstName = '', ...rest] = name.trim().split(/\s+/)
  return { firstName, lastName: rest.join(' ') }
}

/** The fetch of the library, through the addresses that this server may connect to. */
const fetchThrough =
  (fetching: Fetching): OpenIdClient.CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const bytes = body === undefined || body === null ? null : new TextEncoder().encode(String(body))
    const given = Object.fromEntries(new Headers(headers as Record<string, string>))
    const answer = await fetching({ url, method, headers: given, body: bytes }, signal ?? AbortSignal.timeout(timeoutMs))
    return new Response(answer.status === 204 ? null : new Uint8Array(answer.body), { status: answer.status, headers: answer.headers })
  }

const isPlain = (issuer: string) => issuer.startsWith('http:')

async function configure(library: Library, { kind, issuer, clientId, clientSecret }: Client, fetching: Fetching) {
  const authentication = clientSecret === null ? library.None() : kind === 'github' ? library.ClientSecretPost(clientSecret) : undefined
  const metadata = clientSecret === null ? {} : { client_secret: clientSecret }
  if (kind === 'github') {
    const server = {
      issuer,
      authorization_endpoint: `${issuer}/login/oauth/authorize`,
      token_endpoint: `${issuer}/login/oauth/access_token`,
    }
    const made = new library.Configuration(server, clientId, metadata, authentication)
    made[library.customFetch] = fetchThrough(fetching)
    if (isPlain(issuer)) library.allowInsecureRequests(made)
    made.timeout = timeoutMs / 1000
    return made
  }
  const made = await library.discovery(new URL(issuer), clientId, metadata, authentication, {
    [library.customFetch]: fetchThrough(fetching),
    timeout: timeoutMs / 1000,
    ...(isPlain(issuer) && { execute: [library.allowInsecureRequests] }),
  })
  // Signatures of id tokens are checked also where they come straight from the issuer.
  library.enableNonRepudiationChecks(made)
  return made
}

export const createOidcClient = (fetching: Fetching, clock: () => number = () => performance.now()) => {
  const known = new Map<string, { readonly made: Promise<OpenIdClient.Configuration>; readonly at: number }>()
  const mostKnown = 1_000

  const configuration = async (library: Library, client: Client): Promise<OpenIdClient.Configuration> => {
    const key = JSON.stringify(client)
    const found = known.get(key)
    if (found && clock() - found.at < freshMs) return found.made
    const made = configure(library, client, fetching)
    known.delete(key)
    known.set(key, { made, at: clock() })
    if (known.size > mostKnown) known.delete(known.keys().next().value!)
    try {
      return await made
    } catch (error) {
      if (known.get(key)?.made === made) known.delete(key)
      throw signOnFailed('not_reachable', error)
    }
  }

  const apiOfGitHub = (issuer: string) => (issuer === 'https://github.com' ? 'https://api.github.com' : `${issuer}/api/v3`)

  /** The verified primary address; an account can have others that anybody wrote down. */
  const claimsOfGitHub = async (library: Library, config: OpenIdClient.Configuration, token: string, issuer: string): Promise<Claims> => {
    const ask = async (path: string): Promise<unknown> => {
      const headers = new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'Waymark' })
      const answer = await library.fetchProtectedResource(config, token, new URL(apiOfGitHub(issuer) + path), 'GET', null, headers)
      if (!answer.ok) throw new Error(`${path} was answered with status ${answer.status}`)
      return answer.json()
    }
    const user = (await ask('/user')) as { readonly id?: unknown; readonly name?: unknown }
    if (!Number.isSafeInteger(user.id)) throw new Error('GitHub did not say the id of the user')
    const listed = (await ask('/user/emails')) as readonly {
      readonly email?: unknown
      readonly primary?: unknown
      readonly verified?: unknown
    }[]
    const primary = Array.isArray(listed) ? listed.find((one) => one?.primary === true) : undefined
    return {
      issuer,
      subject: String(user.id),
      email: textOf(primary?.email) || null,
      emailVerified: primary?.verified === true,
      workspace: null,
      ...splitName(textOf(user.name)),
    }
  }

  const claimsOfToken = async (
    library: Library,
    config: OpenIdClient.Configuration,
    tokens: Awaited<ReturnType<Library['authorizationCodeGrant']>>,
  ): Promise<Claims> => {
    const claims = tokens.claims()
    if (!claims) throw new Error('There is no id token')
    // Some issuers say the address only when they are asked again.
    const asksAgain = claims.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined
    const more = asksAgain ? await library.fetchUserInfo(config, tokens.access_token, claims.sub) : claims
    const [given, family] = [textOf(more.given_name), textOf(more.family_name)]
    return {
      issuer: claims.iss,
      subject: claims.sub,
      email: textOf(more.email) || null,
      emailVerified: typeof more.email_verified === 'boolean' ? more.email_verified : null,
      workspace: textOf(claims.hd) || null,
      ...(given === '' && family === '' ? splitName(textOf(more.name)) : { firstName: given, lastName: family }),
    }
  }

  return {
    /** The address at the provider that the browser goes to. */
    async begin(client: Client, redirectUri: string, hint: string | null): Promise<{ readonly url: URL; readonly secrets: Secrets }> {
      const library = await load()
      const config = await configuration(library, client)
      const secrets = { state: library.randomState(), nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() }
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: client.kind === 'github' ? 'read:user user:email' : 'openid email profile',
        state: secrets.state,
        code_challenge: await library.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
        ...(client.kind === 'oidc' && { nonce: secrets.nonce }),
        ...(hint !== null && { [client.kind === 'github' ? 'login' : 'login_hint']: hint }),
      })
      return { url, secrets }
    },

    /** What the provider says. `answer`: the address that the browser was sent back to. */
    async finish(client: Client, answer: URL, { state, nonce, verifier }: Secrets): Promise<Claims> {
      if (answer.search.length > longest) throw signOnFailed('not_valid')
      const library = await load()
      const config = await configuration(library, client)
      try {
        const isOidc = client.kind === 'oidc'
        const tokens = await library.authorizationCodeGrant(config, answer, {
          expectedState: state,
          pkceCodeVerifier: verifier,
          ...(isOidc && { expectedNonce: nonce, idTokenExpected: true }),
        })
        return isOidc
          ? await claimsOfToken(library, config, tokens)
          : await claimsOfGitHub(library, config, tokens.access_token, client.issuer)
      } catch (error) {
        if (error instanceof library.AuthorizationResponseError)
          throw signOnFailed(error.error === 'access_denied' ? 'cancelled' : 'provider_error', error)
        throw signOnFailed('not_valid', error)
      }
    },
  }
}
export type OidcClient = ReturnType<typeof createOidcClient>
