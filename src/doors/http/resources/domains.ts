import { domainChange, domainInput } from '../../../service/accounts/organizations/domains.ts'
import type { Domain } from '../../../service/accounts/records.ts'
import { hasOidc, hasSaml } from '../../../service/single-sign-on/own-providers.ts'
import { type DomainAnswer, domainSchema, type ScimTokenAnswer, scimTokenSchema } from '../../answers/domains.ts'
import { mustHaveLoggedIn } from '../access/access.ts'
import { fromOf } from '../access/session-cookies.ts'
import { failures } from '../errors.ts'
import { maybeTime, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import type { OrganizationVisit } from '../resource.ts'

const present = async ({ app }: Pick<OrganizationVisit, 'app'>, domain: Domain): Promise<DomainAnswer> => {
  const is_verified = app.accounts.domains.isProven(domain)
  const token = await app.accounts.scim.tokens.of(domain)
  const scim_token = token
    ? { mask_value: token.mask_value, created_at: time(token.created_at), last_used_at: maybeTime(token.last_used_at) }
    : null
  return { ...shown(domain), is_verified, scim_token, not_enforced: is_verified ? [] : unused(domain) }
}
const shown = (domain: Domain): Omit<DomainAnswer, 'is_verified' | 'scim_token' | 'not_enforced'> => ({
  id: domain.id,
  domain: domain.domain,
  verified_at: maybeTime(domain.verified_at),
  verification_challenge: domain.verification_challenge,
  jit_provisioning_enabled: domain.jit_provisioning_enabled,
  sso_enforcement: domain.sso_enforcement,
  has_saml: hasSaml(domain),
  saml_entity_id: domain.saml_entity_id,
  saml_acs_url: domain.saml_acs_url,
  saml_x509_cert: domain.saml_x509_cert,
  has_oidc: hasOidc(domain),
  oidc_issuer: domain.oidc_issuer,
  oidc_client_id: domain.oidc_client_id,
  has_oidc_client_secret: domain.oidc_client_secret !== null,
  proof: domain.proof,
  proof_missing_since: maybeTime(domain.proof_missing_since),
  pending: domain.pending as DomainAnswer['pending'],
})
/** Without a proof nothing is enforced. */
const unused = (domain: Domain): string[] => [
  ...(domain.jit_provisioning_enabled ? ['jit_provisioning_enabled'] : []),
  ...(domain.sso_enforcement === '' ? [] : ['sso_enforcement']),
  ...(hasSaml(domain) ? ['saml'] : []),
  ...(hasOidc(domain) ? ['oidc'] : []),
]
const find = async ({ app, organization, params }: OrganizationVisit): Promise<Domain> => {
  const domain = await app.accounts.domains.byId(organization.id, params.id!)
  if (!domain) throw failures.notFound()
  return domain
}

export const domains = defineRecords({
  name: 'domains',
  summary:
    'Internet domains of an organization, proven by a TXT record or by the operator (`waymark domains verify`), and their sign-in settings',
  path: '/api/organizations/:organization_id/domains',
  reach: 'organization',
  object: 'organization',
  write: 'admin',
  answer: domainSchema,
  present,
  rows: ({ list, create, retrieve, update, remove, one, row }) => [
    list({
      summary: 'Domains by name',
      handle: async ({ app, organization }) => app.accounts.domains.list(organization.id),
    }),
    create({
      summary:
        'Adds a domain; its challenge is the text that the TXT record must hold. Provisioning and enforcement wait in `pending` until it is proven',
      body: domainInput,
      handle: async (visit) => visit.app.accounts.domains.create(visit.by, visit.body, fromOf(visit)),
    }),
    retrieve({
      summary: 'One domain',
      handle: find,
    }),
    update({
      summary: 'Changes a domain; enforcement and provisioning only once it is verified',
      body: domainChange,
      handle: async (visit) => {
        const provider = visit.caller.via === 'session' ? visit.caller.session.provider : undefined
        return visit.app.accounts.domains.update(visit.by, await find(visit), visit.body, { from: fromOf(visit), provider })
      },
    }),
    remove({
      summary: 'Removes a domain',
      handle: async (visit) => visit.app.accounts.domains.remove(visit.by, await find(visit), fromOf(visit)),
    }),
    one({
      method: 'POST',
      path: ':id/verify',
      name: 'verify',
      summary: 'Looks for the challenge in the TXT record `_waymark-challenge.<domain>`; if it is not found, the domain stays unverified',
      body: domainChange,
      handle: async (visit) => visit.app.accounts.domains.verify(visit.by, await find(visit), fromOf(visit)),
    }),
    row({
      method: 'POST',
      path: ':id/scim_token',
      name: 'create_scim_token',
      summary:
        'Makes the token with which the identity provider of a proven domain provisions users. It replaces the one before. After a recent login',
      scope: 'none',
      needsRecentLogin: true,
      answer: scimTokenSchema,
      handle: async (visit): Promise<ScimTokenAnswer> => {
        mustHaveLoggedIn(visit)
        const { token, value } = await visit.app.accounts.scim.tokens.make(visit.by, await find(visit), fromOf(visit))
        return { value, mask_value: token.mask_value, created_at: time(token.created_at) }
      },
    }),
    row({
      method: 'DELETE',
      path: ':id/scim_token',
      name: 'remove_scim_token',
      summary: 'Revokes the token. Users and roles stay as they are',
      scope: 'none',
      needsRecentLogin: true,
      handle: async (visit) => {
        mustHaveLoggedIn(visit)
        await visit.app.accounts.scim.tokens.revoke(visit.by, await find(visit), fromOf(visit))
      },
    }),
  ],
})
