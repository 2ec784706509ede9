import { Card } from './sign-in.tsx'

// What an identity provider, or this server, did not accept. The texts are for the person; the log of the server has the reason.

const texts: Readonly<Record<string, string>> = {
  sso_enforced: 'Your organization requires another way to sign in. Enter your address on the sign-in page: it leads there.',
  unknown_provider: 'This server has no such identity provider, or the domain is not proven. Ask an administrator of your organization.',
  not_installed: 'A package for this identity provider is not installed on this server. Ask its operator: the log has the name.',
  not_reachable: 'The identity provider did not answer. Try again in a few minutes; if it stays so, ask an administrator.',
  other_browser: 'This login was begun in another browser, or took more than ten minutes. Begin again here.',
  cancelled: 'The login was cancelled at the identity provider, or you may not use this application there.',
  provider_error: 'The identity provider answered with an error. Try again; if it stays so, ask an administrator.',
  not_set_up: 'SAML is not set up for this domain, or its certificate cannot be used. Ask an administrator of your organization.',
  no_public_url: 'This server does not know its public address. Its operator sets it with --public-url.',
  used_before: 'This answer of the identity provider was used before. Sign in again.',
  not_valid: 'The answer of the identity provider is not valid, so it signs in nobody. Try again; if it stays so, ask an administrator.',
  no_address: 'The identity provider did not say which e-mail address you have. An administrator can have it send the address.',
  email_not_verified: 'The identity provider has not verified your e-mail address. Verify it there, then try again.',
  wrong_domain: 'Your address there does not belong to the domain of this identity provider.',
  account_inactive: 'This account is deactivated. Ask an administrator of your organization.',
  other_identity:
    'The account with your address is linked to another person of the identity provider. Ask the operator of this server to unlink it.',
  no_account: 'There is no account with your address yet. Ask for an invitation.',
  invalid_recipient: 'The invitation is for another address. Sign in with that one at the identity provider.',
  expired: 'This invitation has expired. Ask for a new one.',
  throttled: 'Too many logins of your network did not work. Wait a minute, then try again.',
  busy: 'This server is busy with other logins. Try again in a minute.',
}
const otherwise = 'Signing in did not work. Try again; if it stays so, ask an administrator.'

/** `#/sign-in?problem=…`, where a login through an identity provider leads that did not work. */
export function SignOnProblem({ problem, provider, isSignedIn }: { problem: string; provider: string; isSignedIn: boolean }) {
  return (
    <Card title="Signing in did not work">
      <p role="alert">{Object.hasOwn(texts, problem) ? texts[problem] : otherwise}</p>
      {provider !== '' && <p class="note">Identity provider: {provider}</p>}
      <p>
        <a href="#/" autofocus>
          {isSignedIn ? 'Back to Waymark' : 'Back to the sign-in page'}
        </a>
      </p>
    </Card>
  )
}
