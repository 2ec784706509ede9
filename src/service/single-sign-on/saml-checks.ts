import { childrenOf, elementsIn, type XmlElement } from './xml-elements.ts'

// What an answer of SAML must look like, beside a valid signature. The form of the whole document allows nothing that is beside what is signed; the rest is checked on
// the assertion as it was signed.

const skewMs = 60_000
/** From the moment in which the provider made it. So what is used up need not be kept for long. */
const oldestMs = 600_000
export const longestUse = oldestMs + 2 * skewMs

const algorithms = new Set([
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
])
const inResponse = new Set(['Issuer', 'Signature', 'Status', 'Assertion'])

const must = (holds: unknown, what: string) => {
  if (!holds) throw new Error(`The SAML response ${what}`)
}
const only = (element: XmlElement, name: string): XmlElement => {
  const [found, ...others] = childrenOf(element, name)
  must(found && others.length === 0, `must have one ${name} in ${element.name}`)
  return found!
}

/** The provider has refused: its code, without the namespace. */
export const statusOf = (response: XmlElement): string | null => {
  const codes = [...elementsIn(only(response, 'Status'))].filter(({ name }) => name === 'StatusCode')
  const words = codes.map(({ attributes }) => attributes.Value?.split(':').at(-1) ?? '')
  return words[0] === 'Success' ? null : (words.at(-1) ?? 'unknown')
}

/** One response with one assertion, and signatures of these two that cover all of them. */
export function checkForm(response: XmlElement): void {
  must(response.name === 'Response', 'must be one')
  must(
    response.children.every(({ name }) => inResponse.has(name)),
    'has an unexpected part',
  )
  const all = [...elementsIn(response)]
  const named = (name: string) => all.filter((one) => one.name === name)
  must(named('Response').length === 1 && named('Assertion').length === 1, 'must have one assertion')
  must(named('Object').length + named('EncryptedAssertion').length === 0, 'has an unexpected part')
  const ids = all.flatMap(({ attributes }) =>
    Object.entries(attributes).flatMap(([name, value]) => (/^(?:xml:)?id$/i.test(name) ? [value] : [])),
  )
  must(new Set(ids).size === ids.length, 'has an ID twice')
  const assertion = only(response, 'Assertion')
  const signatures = named('Signature')
  must(signatures.length > 0, 'is not signed')
  for (const signature of signatures) {
    const { parent } = signature
    must(parent === response || parent === assertion, 'has a signature in the wrong place')
    must(childrenOf(parent!, 'Signature').length === 1, 'has two signatures in one place')
    const references = [...elementsIn(signature)].filter(({ name }) => name === 'Reference')
    must(references.length === 1 && references[0]!.attributes.URI === `#${parent!.attributes.ID}`, 'has a signature of something else')
  }
  for (const { attributes } of all)
    must(attributes.Algorithm === undefined || algorithms.has(attributes.Algorithm), 'uses an algorithm that is not accepted')
}

export interface Expected {
  readonly idpEntity: string
  readonly entityId: string
  readonly acs: string
  readonly now: Date
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/
const timeOf = (text: string | undefined): number | null => {
  if (text === undefined) return null
  const time = isoTime.test(text) ? Date.parse(text) : Number.NaN
  must(!Number.isNaN(time), 'has a time that cannot be read')
  return time
}
const begins = (text: string | undefined, now: number) => must((timeOf(text) ?? 0) <= now + skewMs, 'is not valid yet')
const ends = (text: string | undefined, now: number) => must((timeOf(text) ?? Number.POSITIVE_INFINITY) > now - skewMs, 'has expired')

const isFor = ({ attributes }: XmlElement, { acs, now }: Expected, inResponseTo: string | null): void => {
  must(attributes.Recipient === acs, 'is for another recipient')
  must(attributes.NotOnOrAfter !== undefined, 'does not say until when it is valid')
  begins(attributes.NotBefore, now.getTime())
  ends(attributes.NotOnOrAfter, now.getTime())
  must((attributes.InResponseTo ?? null) === inResponseTo, 'answers another request')
}

/** The assertion as it was signed. `inResponseTo`: the request that it answers; null: none. */
export function checkAssertion(assertion: XmlElement, expected: Expected, inResponseTo: string | null): void {
  const now = expected.now.getTime()
  must(assertion.name === 'Assertion' && assertion.attributes.Version === '2.0', 'must have an assertion of SAML 2.0')
  must(only(assertion, 'Issuer').text.trim() === expected.idpEntity, 'is of another issuer')
  const made = timeOf(assertion.attributes.IssueInstant)
  must(made !== null && made > now - oldestMs - skewMs, 'is too old')
  must(made! <= now + skewMs, 'is not valid yet')
  const confirmations = childrenOf(only(assertion, 'Subject'), 'SubjectConfirmation').filter(
    ({ attributes }) => attributes.Method === 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
  )
  must(confirmations.length === 1, 'must have one confirmation of its subject')
  isFor(only(confirmations[0]!, 'SubjectConfirmationData'), expected, inResponseTo)
  const conditions = only(assertion, 'Conditions')
  begins(conditions.attributes.NotBefore, now)
  ends(conditions.attributes.NotOnOrAfter, now)
  const audiences = childrenOf(conditions, 'AudienceRestriction')
  must(
    audiences.length > 0 && audiences.every((one) => childrenOf(one, 'Audience').some(({ text }) => text.trim() === expected.entityId)),
    'is for another audience',
  )
  const statements = childrenOf(assertion, 'AuthnStatement')
  must(statements.length > 0, 'does not say that somebody has signed in')
  for (const { attributes } of statements) ends(attributes.SessionNotOnOrAfter, now)
}

/** The outside of the response, which need not be signed. */
export function checkResponse({ attributes, children }: XmlElement, { idpEntity, acs }: Expected, inResponseTo: string | null): void {
  must(attributes.Destination === undefined || attributes.Destination === '' || attributes.Destination === acs, 'is for another recipient')
  must((attributes.InResponseTo ?? null) === inResponseTo, 'answers another request')
  const issuer = children.find(({ name }) => name === 'Issuer')
  must(issuer === undefined || issuer.text.trim() === idpEntity, 'is of another issuer')
}
