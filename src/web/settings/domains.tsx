import type { DomainAnswer } from '../../doors/answers/domains.ts'
import type { WaysAnswer } from '../../doors/answers/login.ts'
import { get, patch, post, remove } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { CheckField, ChoiceField, ConfirmButton, DialogButton, Form, isChecked, TextField, textOf, useAction } from '../ui/forms.tsx'
import { ListTable, useList } from '../ui/list-table.tsx'
import { CopyButton } from '../ui/parts.tsx'
import { Addition, OnlyAdmins } from './access.tsx'
import { Copied, here } from './copied.tsx'
import { useOrganization } from './organization-of.ts'
import { ProvisioningForm } from './provisioning.tsx'

// Domains of the organization, and how users with their addresses sign in.

const enforcements = [
  { value: '', label: 'Any way of signing in' },
  { value: 'saml', label: 'SAML' },
  { value: 'oidc', label: 'OpenID Connect' },
  { value: 'google-oauth2', label: 'Google' },
  { value: 'github', label: 'GitHub' },
  { value: 'gitlab', label: 'GitLab' },
]
const nameOf = (enforcement: string) => enforcements.find(({ value }) => value === enforcement)?.label ?? enforcement

interface Editing {
  readonly domain: DomainAnswer
  readonly save: (fields: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly close: () => void
}

const isSetUp = ({ has_saml, has_oidc }: DomainAnswer, how: string) => (how === 'saml' ? has_saml : how !== 'oidc' || has_oidc)

function SignInForm({ domain, save, close }: Editing) {
  return (
    <Form
      submit="Save"
      send={async (form) => {
        const sso_enforcement = textOf(form, 'sso_enforcement')
        if (!isSetUp(domain, sso_enforcement)) throw new Error(`Set up ${nameOf(sso_enforcement)} for this domain first.`)
        await save({ sso_enforcement, jit_provisioning_enabled: isChecked(form, 'jit_provisioning_enabled') })
        close()
      }}
    >
      <ChoiceField
        name="sso_enforcement"
        label="Only with"
        value={domain.sso_enforcement}
        options={enforcements}
        hint={`Users with addresses of ${domain.domain} then sign in in no other way, and their other sessions wait. Sign in with it yourself first: it shows that it works.`}
      />
      <CheckField
        name="jit_provisioning_enabled"
        label="Who signs in for the first time joins this organization"
        value={domain.jit_provisioning_enabled}
        hint="As a member with the lowest level. It needs an identity provider that manages the domain, or that is chosen above."
      />
    </Form>
  )
}

function OidcForm({ domain, save, close }: Editing) {
  return (
    <Form
      submit="Save"
      send={async (form) => {
        const secret = textOf(form, 'oidc_client_secret')
        await save({
          oidc_issuer: textOf(form, 'oidc_issuer'),
          oidc_client_id: textOf(form, 'oidc_client_id'),
          ...(secret !== '' && { oidc_client_secret: secret }),
        })
        close()
      }}
    >
      <Copied label="Redirect URI, for the identity provider" text={here(`oidc/${domain.domain}/callback`)} />
      <TextField
        name="oidc_issuer"
        label="Issuer"
        value={domain.oidc_issuer}
        placeholder="https://login.example.com"
        maxLength={512}
        hint="The address as the provider calls itself. Empty: none."
      />
      <TextField name="oidc_client_id" label="Client ID" value={domain.oidc_client_id} maxLength={512} />
      <TextField
        name="oidc_client_secret"
        label="Client secret"
        type="password"
        autocomplete="off"
        maxLength={2000}
        hint={domain.has_oidc_client_secret ? 'One is stored. Empty: it stays.' : 'Stored encrypted, and never shown again.'}
      />
    </Form>
  )
}

function SamlForm({ domain, save, close }: Editing) {
  return (
    <Form
      submit="Save"
      send={async (form) => {
        await save({
          saml_entity_id: textOf(form, 'saml_entity_id'),
          saml_acs_url: textOf(form, 'saml_acs_url'),
          saml_x509_cert: textOf(form, 'saml_x509_cert'),
        })
        close()
      }}
    >
      <p class="note">For the identity provider:</p>
      <Copied label="Entity ID (audience), and address of the metadata" text={here(`saml/${domain.domain}/metadata`)} />
      <Copied label="ACS URL (reply URL, single sign-on URL)" text={here(`saml/${domain.domain}/acs`)} />
      <p class="note">Of the identity provider:</p>
      <TextField
        name="saml_entity_id"
        label="Entity ID of the provider"
        value={domain.saml_entity_id}
        maxLength={512}
        hint="Also called issuer. Empty: none."
      />
      <TextField
        name="saml_acs_url"
        label="Sign-on URL of the provider"
        value={domain.saml_acs_url}
        placeholder="https://login.example.com/saml/sso"
        maxLength={512}
        hint="Where the browser goes to sign in."
      />
      <TextField
        name="saml_x509_cert"
        label="Certificate of the provider"
        value={domain.saml_x509_cert}
        rows={6}
        maxLength={10000}
        hint="PEM or base64. While the provider changes its key, both, one below the other."
      />
    </Form>
  )
}

function State({ domain }: { domain: DomainAnswer }) {
  const { timezone } = useProject()
  if (!domain.is_verified)
    return (
      <>
        <span class="state warn">not verified</span>
        <p class="note">
          Add a TXT record named <code>_waymark-challenge.{domain.domain}</code> with this text, then verify:
        </p>
        <div class="row">
          <code class="secret">{domain.verification_challenge}</code>
          <CopyButton text={domain.verification_challenge} />
        </div>
        {domain.pending && <p class="note">What was set for signing in applies as soon as the domain is verified.</p>}
      </>
    )
  return (
    <>
      <span class="state good">verified</span> {domain.sso_enforcement && <span class="state">{nameOf(domain.sso_enforcement)} only</span>}{' '}
      {domain.jit_provisioning_enabled && <span class="state">joins by itself</span>}{' '}
      {domain.scim_token && <span class="state">provisioned</span>}
      {domain.proof_missing_since && (
        <p class="note">
          The TXT record is missing since {momentText(domain.proof_missing_since, timezone)}. After three days the domain is not verified
          any more, and nothing is required of its addresses.
        </p>
      )}
    </>
  )
}

const packagesText = (names: readonly string[]) => `npm install ${names.join(' ')}`

export function DomainsSection() {
  const { isAdmin, api } = useOrganization()
  const list = useList<DomainAnswer>(api('domains/?limit=50'))
  const { value: ways } = useLoaded((signal) => get<WaysAnswer>('api/login/?packages=1', signal), [])
  const { act, isBusy, failure } = useAction()
  const verify = (domain: DomainAnswer) =>
    act(async () => {
      const { is_verified } = await post<DomainAnswer>(api(`domains/${domain.id}/verify/`))
      list.reload()
      if (!is_verified) throw new Error(`The TXT record of ${domain.domain} was not found. New records can take some time to appear.`)
    })
  const editing = (domain: DomainAnswer, close: () => void): Editing => ({
    domain,
    close,
    save: async (fields) => {
      await patch(api(`domains/${domain.id}/`), fields)
      list.reload()
    },
  })
  return (
    <>
      <section class="block">
        <h2>Domains</h2>
        <p class="note">
          A verified domain belongs to this organization, which decides how users with its addresses sign in. The TXT record is looked up
          every day.
        </p>
        {isAdmin && ways && ways.not_installed.length > 0 && (
          <p class="hint">
            Single sign-on needs packages that this server does not have. Its operator installs them:{' '}
            <code>{packagesText(ways.not_installed)}</code>
          </p>
        )}
        {!isAdmin && <OnlyAdmins of="domains" />}
        {failure}
        <ListTable
          list={list}
          what="domains"
          head={['Domain', 'State', null]}
          empty="No domain yet."
          row={(domain) => (
            <tr key={domain.id}>
              <td>{domain.domain}</td>
              <td>
                <State domain={domain} />
              </td>
              <td>
                {isAdmin && (
                  <div class="row">
                    {!domain.is_verified && (
                      <button type="button" disabled={isBusy} onClick={() => verify(domain)}>
                        Verify
                      </button>
                    )}
                    {domain.is_verified && (
                      <>
                        <DialogButton label="Sign-in…" title={`Signing in from ${domain.domain}`}>
                          {(close) => <SignInForm {...editing(domain, close)} />}
                        </DialogButton>
                        <DialogButton label="SAML…" title={`SAML of ${domain.domain}`}>
                          {(close) => <SamlForm {...editing(domain, close)} />}
                        </DialogButton>
                        <DialogButton label="OpenID Connect…" title={`OpenID Connect of ${domain.domain}`}>
                          {(close) => <OidcForm {...editing(domain, close)} />}
                        </DialogButton>
                        <DialogButton label="Provisioning…" title={`Users and groups from ${domain.domain}`}>
                          {() => <ProvisioningForm domain={domain} onChanged={list.reload} />}
                        </DialogButton>
                      </>
                    )}
                    <ConfirmButton
                      label="Remove…"
                      title={`Remove ${domain.domain}`}
                      submit="Remove"
                      action={() => remove(api(`domains/${domain.id}/`)).then(list.reload)}
                    >
                      <p>Its sign-in settings and its token are deleted with it.</p>
                    </ConfirmButton>
                  </div>
                )}
              </td>
            </tr>
          )}
        />
      </section>
      {isAdmin && (list.rows !== null || list.error !== null) && (
        <Addition
          title="Add a domain"
          submit="Add"
          path={api('domains/')}
          field={['domain', 'Domain']}
          placeholder="example.com"
          maxLength={128}
          onAdded={list.reload}
        />
      )}
    </>
  )
}
