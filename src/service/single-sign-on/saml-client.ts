import { X509Certificate } from 'node:crypto'
import type * as NodeSaml from '@node-saml/node-saml'
import { isLoopback } from '../accounts/single-sign-on/issuer.ts'
import { signOnFailed } from './failures.ts'
import { checkAssertion, checkForm, checkResponse, type Expected, statusOf } from './saml-checks.ts'
import { childrenOf, readXml, type XmlElement } from './xml-elements.ts'

// SAML 2.0 with the package @node-saml/node-saml, which checks signatures. What it returns as signed is checked once more here.

export interface SamlProvider {
  /** As the provider calls itself. */
  readonly idpEntity: string
  /** Where the browser goes to sign in. */
  readonly entryPoint: string
  /** One or more certificates: while the provider changes its key, both. */
  readonly certificates: string
}
export interface ServiceAddresses {
  readonly entityId: string
  readonly acs: string
}
export interface SamlClaims {
  readonly assertionId: string
  readonly inResponseTo: string | null
  readonly subject: string
  readonly email: string | null
  readonly firstName: string
  readonly lastName: string
}

type Library = typeof NodeSaml
export const samlPackage = '@node-saml/node-saml' // not an import that a bundler should look for
const load = async (): Promise<Library> => {
  try {
    return (await import(samlPackage)) as Library
  } catch (error) {
    throw signOnFailed('not_installed', error)
  }
}
export const isSamlInstalled = (): Promise<boolean> =>
  load().then(
    () => true,
    () => false,
  )

const mostCertificates = 10
const longestResponse = 400_000
const leastBits = 2048
const pem = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g

/** PEM, one below the other, or one as the base64 of metadata. Keys that are too weak count as none. */
function certificatesOf(text: string): readonly string[] {
  const bodies = [...text.matchAll(pem)].map(([, body]) => body!)
  const all = bodies.length > 0 ? bodies : [text]
  return all.slice(0, mostCertificates).flatMap((body) => {
    try {
      const { publicKey } = new X509Certificate(Buffer.from(body, 'base64'))
      const bits = publicKey.asymmetricKeyDetails?.modulusLength
      return publicKey.asymmetricKeyType === 'rsa' && bits !== undefined && bits >= leastBits ? [body.replace(/\s/g, '')] : []
    } catch {
      return []
    }
  })
}
const isEntryPoint = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
}

const attributeNames = {
  email: [
    'email',
    'mail',
    'emailaddress',
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
    'urn:oid:0.9.2342.19200300.100.1.3',
    'urn:oid:1.2.840.113549.1.9.1',
  ],
  firstName: [
    'first_name',
    'firstname',
    'givenname',
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname',
    'urn:oid:2.5.4.42',
  ],
  lastName: ['last_name', 'lastname', 'surname', 'sn', 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname', 'urn:oid:2.5.4.4'],
}

/** The only value of the first of these attributes. */
const attributeOf = (assertion: XmlElement, names: readonly string[]): string => {
  const all = childrenOf(assertion, 'AttributeStatement').flatMap((statement) => childrenOf(statement, 'Attribute'))
  for (const name of names) {
    const found = all.filter(({ attributes }) => attributes.Name?.toLowerCase() === name)
    const values = found.flatMap((one) => childrenOf(one, 'AttributeValue'))
    const [value] = values
    if (values.length === 1 && value!.children.length === 0 && value!.text.trim() !== '') return value!.text.trim()
  }
  return ''
}

const claimsOf = (assertion: XmlElement): Omit<SamlClaims, 'inResponseTo'> => {
  const names = childrenOf(childrenOf(assertion, 'Subject')[0]!, 'NameID')
  const [name] = names
  if (names.length !== 1 || name!.children.length > 0) throw new Error('The SAML response must have one NameID')
  const nameId = name!.text.trim()
  const format = name!.attributes.Format?.split(':').at(-1) ?? 'unspecified'
  const given = attributeOf(assertion, attributeNames.email)
  const email = given !== '' ? given : format !== 'transient' && format !== 'persistent' && nameId.includes('@') ? nameId : null
  // Another one at each login: it names nobody.
  const subject = format === 'transient' ? (email?.toLowerCase() ?? '') : nameId.includes('@') ? nameId.toLowerCase() : nameId
  return {
    assertionId: assertion.attributes.ID ?? '',
    subject,
    email,
    firstName: attributeOf(assertion, attributeNames.firstName),
    lastName: attributeOf(assertion, attributeNames.lastName),
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })
const textOf = (response: string): string => {
  if (response.length > longestResponse || !/^[A-Za-z0-9+/=\s]+$/.test(response))
    throw new Error('The SAML response is not base64, or too long')
  return strictUtf8.decode(Buffer.from(response, 'base64'))
}

const clientOf = (
  library: Library,
  { idpEntity, entryPoint, certificates }: SamlProvider,
  { entityId, acs }: ServiceAddresses,
  id = '',
) => {
  const idpCert = certificatesOf(certificates)
  if (idpCert.length === 0 || !isEntryPoint(entryPoint)) throw signOnFailed('not_set_up')
  return new library.SAML({
    callbackUrl: acs,
    issuer: entityId,
    audience: entityId,
    entryPoint,
    idpIssuer: idpEntity,
    idpCert: [...idpCert],
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    generateUniqueId: () => id,
    // One of both signatures is required; which one differs between providers.
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    // Checked here, with the clock of this server.
    acceptedClockSkewMs: -1,
    validateInResponseTo: library.ValidateInResponseTo.never,
  })
}

/** The address at the provider that the browser goes to. */
export async function beginSaml(provider: SamlProvider, service: ServiceAddresses, id: string): Promise<string> {
  const library = await load()
  return clientOf(library, provider, service, id).getAuthorizeUrlAsync('', undefined, {})
}

const refusals: ReadonlySet<string> = new Set(['AuthnFailed', 'RequestDenied', 'NoPassive'])

/** What the provider says. `inResponseTo`: the request that it must answer; undefined: whatever it says. */
export async function readSaml(
  response: string,
  provider: SamlProvider,
  service: ServiceAddresses,
  now: Date,
  inResponseTo?: string | null,
): Promise<SamlClaims> {
  const library = await load()
  const client = clientOf(library, provider, service)
  try {
    const outer = readXml(textOf(response))
    const status = outer.name === 'Response' ? statusOf(outer) : null
    if (status !== null) throw signOnFailed(refusals.has(status) ? 'cancelled' : 'provider_error', new Error(`The status is ${status}`))
    checkForm(outer)
    const { profile } = await client.validatePostResponseAsync({ SAMLResponse: response })
    const signed = profile?.getAssertionXml?.()
    if (!signed) throw new Error('The SAML response has no signed assertion')
    const answered = outer.attributes.InResponseTo ?? null
    const request = inResponseTo === undefined ? answered : inResponseTo
    const expected: Expected = { idpEntity: provider.idpEntity, ...service, now }
    const assertion = readXml(signed)
    checkResponse(outer, expected, request)
    checkAssertion(assertion, expected, request)
    return { ...claimsOf(assertion), inResponseTo: request }
  } catch (error) {
    throw error instanceof Error && 'data' in error ? error : signOnFailed('not_valid', error)
  }
}

/** For the provider: what this server is called, and where answers go. */
export const metadataOf = ({ entityId, acs }: ServiceAddresses): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escaped(entityId)}">`,
    '  <md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">',
    '    <md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</md:NameIDFormat>',
    `    <md:AssertionConsumerService index="0" isDefault="true" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escaped(acs)}"/>`,
    '  </md:SPSSODescriptor>',
    '</md:EntityDescriptor>',
    '',
  ].join('\n')
const escaped = (text: string) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)
