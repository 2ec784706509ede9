import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A SAML provider of the tests. It writes its answers by hand, and Debian's xmlsec1 signs them: never the library under test.

export const hasXmlsec = existsSync('/usr/bin/xmlsec1') && existsSync('/usr/bin/openssl')
if (!hasXmlsec) console.warn('\n  SKIPPED: the tests of SAML. Install xmlsec1 and openssl (Debian: apt-get install xmlsec1 openssl).\n')

const dsig = 'http://www.w3.org/2000/09/xmldsig#'
const sha256 = { signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', digest: 'http://www.w3.org/2001/04/xmlenc#sha256' }
export const sha1 = { signature: `${dsig}rsa-sha1`, digest: `${dsig}sha1` }
type Algorithms = typeof sha256

export interface SamlPerson {
  readonly nameId: string
  readonly format?: string
  readonly attributes?: Readonly<Record<string, string>>
}
/** What an answer says. Times in milliseconds from now. */
export interface Said extends SamlPerson {
  readonly issuer: string
  readonly audience: string | null
  readonly recipient: string
  readonly destination: string
  readonly inResponseTo: string | null
  readonly now: Date
  readonly issued: number
  readonly notBefore: number
  readonly notOnOrAfter: number
  readonly assertionId: string
  readonly responseId: string
  readonly status: string
  readonly signs: 'assertion' | 'response' | 'both' | 'none'
  readonly algorithms: Algorithms
}

const at = (now: Date, ms: number) => new Date(now.getTime() + ms).toISOString()
export const signatureOf = (id: string, { signature, digest }: Algorithms) =>
  `<ds:Signature xmlns:ds="${dsig}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/><ds:SignatureMethod Algorithm="${signature}"/><ds:Reference URI="#${id}"><ds:Transforms><ds:Transform Algorithm="${dsig}enveloped-signature"/><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms><ds:DigestMethod Algorithm="${digest}"/><ds:DigestValue/></ds:Reference></ds:SignedInfo><ds:SignatureValue/></ds:Signature>`

export class SamlProvider {
  readonly entity = 'https://idp.test/saml/metadata'
  entryPoint = 'https://idp.test/saml/sso'
  private server: Server | null = null
  person: SamlPerson = { nameId: 'ada@acme.test' }
  private readonly folder = mkdtempSync(join(tmpdir(), 'waymark-saml-'))
  private readonly key = join(this.folder, 'key.pem')
  readonly certificate: string

  /** `key`: an RSA key of so many bits, or one on that curve. */
  constructor(key: number | 'prime256v1' | 'secp384r1' = 2048) {
    const cert = join(this.folder, 'cert.pem')
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        ...(typeof key === 'number' ? [`rsa:${key}`] : ['ec', '-pkeyopt', `ec_paramgen_curve:${key}`]),
        '-nodes',
        '-subj',
        '/CN=idp.test',
        '-days',
        '30',
        '-keyout',
        this.key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    this.certificate = readFileSync(cert, 'utf8')
  }
  close(): void {
    this.server?.close().closeAllConnections()
    rmSync(this.folder, { recursive: true })
  }

  /** Pages for a browser: one that asks, and the form that it sends to this service. */
  async serve(service: { readonly entityId: string; readonly acs: string }, requestOf: (url: URL) => string | null): Promise<void> {
    const server = createServer((request, response) => {
      const url = new URL(request.url!, 'http://127.0.0.1')
      const answer = encoded(this.answer(this.said(service, requestOf(url), new Date())))
      const form = `<form method="post" action="${service.acs}"><input type="hidden" name="SAMLResponse" value="${answer}"><button>Continue as ${this.person.nameId}</button></form>`
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<!doctype html><title>Provider</title><link rel="icon" href="data:,"><h1>Test provider</h1>${form}`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.server = server
    this.entryPoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sso`
  }

  get settings() {
    return { saml_entity_id: this.entity, saml_acs_url: this.entryPoint, saml_x509_cert: this.certificate }
  }

  /** The first template of a signature in the text, filled. */
  sign(xml: string, more: readonly string[] = []): string {
    const [from, to] = [join(this.folder, 'from.xml'), join(this.folder, 'to.xml')]
    writeFileSync(from, xml)
    const ids = ['Assertion', 'Response'].flatMap((name) => ['--id-attr:ID', name])
    execFileSync('xmlsec1', ['--sign', '--privkey-pem', this.key, ...ids, ...more, '--output', to, from], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    return readFileSync(to, 'utf8')
  }

  said(
    service: { readonly entityId: string; readonly acs: string },
    inResponseTo: string | null,
    now: Date,
    change: Partial<Said> = {},
  ): Said {
    return {
      ...this.person,
      issuer: this.entity,
      audience: service.entityId,
      recipient: service.acs,
      destination: service.acs,
      inResponseTo,
      now,
      issued: 0,
      notBefore: -1000,
      notOnOrAfter: 300_000,
      assertionId: `_a${randomBytes(8).toString('hex')}`,
      responseId: `_r${randomBytes(8).toString('hex')}`,
      status: 'Success',
      signs: 'assertion',
      algorithms: sha256,
      ...change,
    }
  }

  assertion(said: Said, signature = ''): string {
    const { now, inResponseTo, nameId, format = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress', attributes = {} } = said
    const answers = inResponseTo === null ? '' : ` InResponseTo="${inResponseTo}"`
    const audience =
      said.audience === null ? '' : `<saml:AudienceRestriction><saml:Audience>${said.audience}</saml:Audience></saml:AudienceRestriction>`
    const values = Object.entries(attributes).map(
      ([name, value]) => `<saml:Attribute Name="${name}"><saml:AttributeValue>${value}</saml:AttributeValue></saml:Attribute>`,
    )
    return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${said.assertionId}" Version="2.0" IssueInstant="${at(now, said.issued)}"><saml:Issuer>${said.issuer}</saml:Issuer>${signature}<saml:Subject><saml:NameID Format="${format}">${nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData${answers} NotOnOrAfter="${at(now, said.notOnOrAfter)}" Recipient="${said.recipient}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(now, said.notBefore)}" NotOnOrAfter="${at(now, said.notOnOrAfter)}">${audience}</saml:Conditions><saml:AuthnStatement AuthnInstant="${at(now, said.issued)}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>${values.length > 0 ? `<saml:AttributeStatement>${values.join('')}</saml:AttributeStatement>` : ''}</saml:Assertion>`
  }

  response(said: Said, contents: string, signature = ''): string {
    const answers = said.inResponseTo === null ? '' : ` InResponseTo="${said.inResponseTo}"`
    return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${said.responseId}" Version="2.0" IssueInstant="${at(said.now, said.issued)}" Destination="${said.destination}"${answers}><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${said.issuer}</saml:Issuer>${signature}<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${said.status}"/></samlp:Status>${contents}</samlp:Response>`
  }

  /** The signed text of an answer. */
  answer(said: Said): string {
    const { signs, algorithms } = said
    const ofAssertion = signs === 'assertion' || signs === 'both' ? signatureOf(said.assertionId, algorithms) : ''
    const inner = this.assertion(said, ofAssertion)
    // Signed by itself, so that its signature holds wherever it stands.
    const assertion = ofAssertion === '' ? inner : withoutDeclaration(this.sign(inner))
    const ofResponse = signs === 'response' || signs === 'both' ? signatureOf(said.responseId, algorithms) : ''
    const whole = this.response(said, assertion, ofResponse)
    return ofResponse === '' ? whole : withoutDeclaration(this.sign(whole, ['--node-xpath', "/*/*[local-name()='Signature']"]))
  }
}

export const withoutDeclaration = (xml: string): string => xml.replace(/^<\?xml[^>]*\?>\s*/, '').trimEnd()
export const encoded = (xml: string): string => Buffer.from(xml).toString('base64')
