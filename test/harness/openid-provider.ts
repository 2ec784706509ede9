import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

// An identity provider of the tests: OpenID Connect and the API of GitHub, on the loopback interface. Tokens are signed with node:crypto. It signs in whom `person` says, without asking.

export interface Person {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: unknown
  readonly name?: string
  readonly [claim: string]: unknown
}
type Json = Readonly<Record<string, unknown>>
export interface Token {
  readonly header: Json
  readonly claims: Json
}

const base64 = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const bodyOf = async (request: IncomingMessage): Promise<URLSearchParams> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return new URLSearchParams(Buffer.concat(pieces).toString())
}

interface Key {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}
export const newKey = (kid: string): Key => ({ kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) })

export class OpenIdProvider {
  person: Person = { sub: 'subject 1', email: 'ada@acme.test', email_verified: true, name: 'Ada Lovelace' }
  clientId = 'waymark'
  clientSecret = 'the secret of the client'
  keys: Key[] = [newKey('first')]
  /** Changes what is signed. */
  forge: (token: Token) => Token = (token) => token
  /** Makes the token out of it. */
  signToken: (token: Token) => string = (token) => this.rs256(token)
  /** Changes the address that the browser is sent back to. */
  reply: (answer: URL) => void = () => {}
  /** Changes the answer of the token endpoint. */
  tokens: (answer: Record<string, unknown>) => void = () => {}
  metadata: (answer: Record<string, unknown>) => void = () => {}
  emails: unknown = null
  /** Addresses with a page that asks before it signs in. */
  asks = false
  /** What was asked for, newest last. */
  readonly seen: { readonly path: string; readonly search: URLSearchParams; readonly body: URLSearchParams }[] = []
  private readonly codes = new Map<string, { readonly search: URLSearchParams; readonly person: Person }>()
  private readonly persons = new Map<string, Person>()
  private readonly server = createServer((request, response) => {
    void this.answer(request).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  issuer = ''

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    this.issuer = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
    return this
  }
  close = () => new Promise((resolve) => this.server.close(resolve).closeAllConnections())

  reset(): void {
    this.forge = (token) => token
    this.signToken = (token) => this.rs256(token)
    this.reply = () => {}
    this.tokens = () => {}
    this.metadata = () => {}
    this.emails = null
  }

  rs256({ header, claims }: Token, { privateKey, kid } = this.keys[0]!): string {
    const text = `${base64({ alg: 'RS256', typ: 'JWT', kid, ...header })}.${base64(claims)}`
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }
  /** Signed with a text that everybody knows. */
  hs256({ header, claims }: Token, secret: string | Buffer): string {
    const text = `${base64({ alg: 'HS256', typ: 'JWT', ...header })}.${base64(claims)}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  unsigned = ({ header, claims }: Token) => `${base64({ ...header, alg: 'none', typ: 'JWT' })}.${base64(claims)}.`
  get publicPem(): string {
    return this.keys[0]!.publicKey.export({ type: 'spki', format: 'pem' }) as string
  }

  private async answer(request: IncomingMessage) {
    const url = new URL(request.url!, this.issuer)
    const body = await bodyOf(request)
    this.seen.push({ path: url.pathname, search: url.searchParams, body })
    const json = (value: unknown, status = 200) => ({
      status,
      headers: { 'content-type': 'application/json' } as Record<string, string>,
      body: JSON.stringify(value),
    })
    switch (url.pathname) {
      case '/.well-known/openid-configuration': {
        const about: Record<string, unknown> = {
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          userinfo_endpoint: `${this.issuer}/userinfo`,
          jwks_uri: `${this.issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        }
        this.metadata(about)
        return json(about)
      }
      case '/keys':
        return json({
          keys: this.keys.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' })),
        })
      case '/authorize':
      case '/login/oauth/authorize': {
        if (this.asks) {
          const link = `${url.pathname}/yes${url.search}`.replaceAll('&', '&amp;')
          const page = `<!doctype html><title>Provider</title><link rel="icon" href="data:,"><h1>Test provider</h1><a href="${link}">Continue as ${this.person.email}</a>`
          return { status: 200, headers: { 'content-type': 'text/html' }, body: page }
        }
        return this.approve(url)
      }
      case '/authorize/yes':
        return this.approve(url)
      case '/token':
      case '/login/oauth/access_token':
        return this.exchange(body, json)
      case '/userinfo':
        return json(this.personOf(request))
      case '/api/v3/user':
        return json({ id: Number(this.personOf(request).sub), name: this.personOf(request).name })
      case '/api/v3/user/emails':
        return json(this.emails ?? [{ email: this.personOf(request).email, primary: true, verified: true }])
      default:
        return json({ error: 'not_found' }, 404)
    }
  }

  private personOf(request: IncomingMessage): Person {
    const person = this.persons.get((request.headers.authorization ?? '').replace(/^bearer /i, ''))
    if (!person) throw new Error('unknown access token')
    return person
  }

  private approve({ searchParams }: URL) {
    const code = randomBytes(16).toString('hex')
    this.codes.set(code, { search: searchParams, person: this.person })
    const to = new URL(searchParams.get('redirect_uri')!)
    to.searchParams.set('code', code)
    to.searchParams.set('state', searchParams.get('state') ?? '')
    this.reply(to)
    return { status: 302, headers: { location: to.href } as Record<string, string>, body: '' }
  }

  private exchange(
    body: URLSearchParams,
    json: (value: unknown, status?: number) => { status: number; headers: Record<string, string>; body: string },
  ) {
    const code = body.get('code') ?? ''
    const asked = this.codes.get(code)
    this.codes.delete(code) // it works once
    const verifier = body.get('code_verifier') ?? ''
    const isRight =
      asked !== undefined &&
      createHash('sha256').update(verifier).digest('base64url') === asked.search.get('code_challenge') &&
      body.get('redirect_uri') === asked.search.get('redirect_uri') &&
      body.get('client_id') === this.clientId &&
      body.get('client_secret') === this.clientSecret
    if (!isRight) return json({ error: 'invalid_grant' }, 400)
    const now = Math.floor(Date.now() / 1000)
    const nonce = asked.search.get('nonce')
    const token = this.forge({
      header: {},
      claims: { iss: this.issuer, aud: this.clientId, iat: now, exp: now + 300, ...(nonce !== null && { nonce }), ...asked.person },
    })
    const access = randomBytes(16).toString('hex')
    this.persons.set(access, asked.person)
    const answer: Record<string, unknown> = { access_token: access, token_type: 'bearer', id_token: this.signToken(token) }
    this.tokens(answer)
    return json(answer)
  }
}
