import { WaymarkError } from '../../errors/errors.ts'
import { invalid } from '../accounts/refusals.ts'

/** Why signing in through a provider did not work. The pages have a text for each. */
const signOnFailures = {
  unknown_provider: 'This server has no such identity provider.',
  not_installed: 'The operator of this server has to install a package for this identity provider.',
  not_reachable: 'The identity provider did not answer, or its answer cannot be read.',
  other_browser: 'This login was begun in another browser, or took more than ten minutes. Begin again.',
  cancelled: 'The login was cancelled at the identity provider.',
  provider_error: 'The identity provider answered with an error.',
  not_set_up: 'The domain has no SAML provider, or its certificate or address cannot be used.',
  no_public_url: 'The operator of this server has to set its public URL.',
  not_valid: 'The answer of the identity provider is not valid.',
} as const
type SignOnFailure = keyof typeof signOnFailures

export const signOnFailed = (code: SignOnFailure, cause?: unknown): WaymarkError => {
  const { data } = invalid(signOnFailures[code], null, code) as WaymarkError<'invalid-value'>
  return new WaymarkError('invalid-value', data, { cause })
}
