import { type ScimType, scimTypes } from '../../../service/accounts/scim/refusals.ts'
import type { Provider } from '../../../service/accounts/scim/tokens.ts'
import { hashKey } from '../../../service/accounts/secrets/secrets.ts'
import { type Failure, failures } from '../errors.ts'
import { networkOf } from '../requests/client-address.ts'
import type { Visit } from '../resource.ts'

// Requests of identity providers: who sends them, and errors in the form that they expect.

export const scimMedia = 'application/scim+json'
export const isScim = (path: string): boolean => path.startsWith('/scim/v2/')

const longestToken = 512
const tokenOf = (request: Request): string | null => {
  const header = request.headers.get('authorization')?.trim() ?? ''
  const token = /^bearer\s/i.test(header) ? header.slice('bearer'.length).trim() : ''
  return token === '' || token.length > longestToken ? null : token
}

/** Requests count for their token. */
export const scimCallerOf = (request: Request, address: string | null): string => {
  const token = tokenOf(request)
  return token === null ? `network ${address === null ? '' : networkOf(address).host}` : hashKey(token)
}

/** The domain whose token the request has. Throws without a valid one, and while the domain is not proven. */
export async function providerOf({ app, request, site }: Visit): Promise<Provider> {
  const takeBack = await app.scimAttempts.begin({ email: 'token of scim', address: site.client, device: null })
  const token = tokenOf(request)
  const { tokens } = app.accounts.scim
  const found = token === null ? null : await tokens.find(token)
  if (!found) throw failures.badScimToken()
  await takeBack()
  const provider = tokens.mustBeProven(found)
  await tokens.noteUse(provider)
  return provider
}

const typeNames: ReadonlySet<string> = new Set(scimTypes)
const typeOf = ({ status, code }: Failure): ScimType | undefined => {
  if (typeNames.has(code)) return code as ScimType
  if (code === 'parse_error') return 'invalidSyntax'
  return status === 400 ? 'invalidValue' : undefined
}

/** Section 3.12 of RFC 7644. */
export const scimStatusOf = (failure: Failure): number => (failure.code === ('uniqueness' satisfies ScimType) ? 409 : failure.status)
export function scimFailureBody(failure: Failure) {
  const scimType = typeOf(failure)
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(scimStatusOf(failure)),
    ...(scimType && { scimType }),
    detail: failure.attr === null ? failure.detail : `${failure.attr}: ${failure.detail}`,
  }
}
