import { inflateRawSync } from 'node:zlib'
import { encoded, type SamlProvider } from '../../harness/saml-provider.ts'
import { pageOf } from './openid.ts'
import type { Browser } from './signing-in.ts'

// Signing in through the SAML provider of the tests, as a browser does.

export const sameOrigin = { headers: { 'sec-fetch-site': 'same-origin' } }
export const crossSite = { headers: { 'sec-fetch-site': 'cross-site' } }
export const serviceOf = (name: string, base = 'http://localhost') => ({
  entityId: `${base}/saml/${name}/metadata`,
  acs: `${base}/saml/${name}/acs`,
})

/** A form, as browsers send it. */
export const postForm = (browser: Browser, path: string, fields: Record<string, string>, sent: { headers: Record<string, string> }) =>
  browser.send('POST', path, undefined, { ...sent, form: new URLSearchParams(fields).toString() })

/** The request that a browser takes to the provider. */
export const requestIn = (location: URL) => {
  const request = inflateRawSync(Buffer.from(location.searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
  return { id: / ID="([^"]+)"/.exec(request)?.[1] ?? '', location, request }
}
export const begin = async (browser: Browser, at: string, search = '') => {
  const location = new URL((await browser.get(`/saml/${at}/login${search}`)).headers.get('location')!)
  return location.searchParams.has('SAMLRequest') ? requestIn(location) : { id: '', location, request: '' }
}

const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
/** From the form of the provider to the page that is shown. */
export const give = async (browser: Browser, at: string, xml: string, relayState?: string) => {
  const fields = { SAMLResponse: encoded(xml), ...(relayState !== undefined && { RelayState: relayState }) }
  const first = await postForm(browser, `/saml/${at}/acs`, fields, crossSite)
  if (first.status === 302) return pageOf(first.headers.get('location')!)
  const page = String(first.body)
  const hidden = [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, field, value]) => [field!, unescaped(value!)])
  const second = await postForm(browser, `/saml/${at}/continue`, Object.fromEntries(hidden), sameOrigin)
  return { ...pageOf(second.headers.get('location')!), isAutomatic: page.includes('.submit()') }
}

export const throughSaml = async (browser: Browser, provider: SamlProvider, at: string, now: Date, email: string) => {
  const { id } = await begin(browser, at)
  return give(browser, at, provider.answer(provider.said(serviceOf(at), id, now, { nameId: email })))
}
