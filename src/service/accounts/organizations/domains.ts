import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, changesOf, entryAbout, type From, log } from '../context.ts'
import { check, choice, flag, text } from '../fields.ts'
import type { AccountTables, Domain } from '../records.ts'
import { invalid, mustFind, notFound } from '../refusals.ts'
import { endProvisioning } from '../scim/tokens.ts'
import { sealedFor } from '../secrets/resealing.ts'
import { randomChallenge } from '../secrets/secrets.ts'
import { domainOf, isProvenDomain as isProven, ofDomain, requiredProvider } from '../single-sign-on/enforcing-domain.ts'
import { isIssuer } from '../single-sign-on/issuer.ts'

/** Labels of lower-case letters, digits and inner hyphens, at least two of them. */
export const domainName = /^(?:[a-z0-9](?:[a-z0-9]|-(?!-))*(?<!-)\.)+[a-z]{2,}$/
export const notDomain = 'Please enter a valid domain or subdomain name.'
const saml = {
  saml_entity_id: text({ max: 512, blank: true }).nullable().optional(),
  saml_acs_url: text({ max: 512, blank: true }).nullable().optional(),
  saml_x509_cert: text({ blank: true }).nullable().optional(),
}
/** An issuer of OpenID Connect of the organization's own. `''` removes what is set. The secret is never shown. */
const oidc = {
  oidc_issuer: text({ max: 512, blank: true })
    .refine((value) => value === '' || isIssuer(value), {
      error: 'Must be an address that begins with https://, as the provider calls itself.',
    })
    .nullable()
    .optional(),
  oidc_client_id: text({ max: 512, blank: true }).nullable().optional(),
  oidc_client_secret: text({ max: 2_000, blank: true }).nullable().optional(),
}
const signIn = {
  jit_provisioning_enabled: flag().optional(),
  sso_enforcement: choice(['', 'google-oauth2', 'github', 'gitlab', 'saml', 'oidc']).optional(),
}
export const domainInput = z.object({
  domain: text({ max: 128 }).refine((value) => domainName.test(value), { error: notDomain }),
  ...saml,
  ...oidc,
  ...signIn,
})
export const domainChange = domainInput.partial()
const signInInput = z.object(signIn)
type Pending = Partial<Pick<Domain, 'jit_provisioning_enabled' | 'sso_enforcement'>>
/** The settings of a new domain that differ from their defaults. */
const waiting = ({ jit_provisioning_enabled: joins, sso_enforcement: only }: Pending): Domain['pending'] => {
  const asked = { ...(joins ? { jit_provisioning_enabled: true } : {}), ...(only ? { sso_enforcement: only } : {}) }
  return Object.keys(asked).length > 0 ? asked : null
}
const needProof = ['jit_provisioning_enabled', 'sso_enforcement'] as const

/** The TXT record that proves a domain. */
const challengeName = (domain: string): string => `_waymark-challenge.${domain}`
const note = (by: ActingMember | null, domain: Domain, activity: string) =>
  entryAbout('OrganizationDomain', domain, domain.domain, by?.user ?? null, activity)
const mustBeFree = async (tables: { domains: Pick<AccountTables['domains'], 'first'> }, name: string, own?: Domain) => {
  const other = await tables.domains.first({ domain: name })
  if (other && other.id !== own?.id) throw invalid('domain with this domain already exists.', 'domain', 'unique')
}
const asItIs = (tables: AccountTables, id: string): Promise<Domain> => mustFind(tables.domains.first({ id }))
/** The secret of a client is stored encrypted, and logged as changed only. */
const sealed = (context: AccountContext, id: string, { oidc_client_secret: secret, ...others }: Partial<DomainInput>) => ({
  ...others,
  ...(secret !== undefined && { oidc_client_secret: secret ? context.box.seal(secret, sealedFor.oidcClient(id)) : null }),
})
type DomainInput = z.infer<typeof domainInput>
/** For a name that does not exist here yet. */
const unproven = (context: AccountContext) => ({
  verification_challenge: randomChallenge(),
  verified_at: context.settings().isHosted ? null : context.clock(),
  is_assumed: !context.settings().isHosted,
  jit_provisioning_enabled: false,
  sso_enforcement: '',
  pending: null,
  proof: null,
  proof_checked_at: null,
  proof_missing_since: null,
})
/** A client of OpenID Connect, and its secret, are for the domain as it was named. */
const noProviders = {
  saml_entity_id: null,
  saml_acs_url: null,
  saml_x509_cert: null,
  oidc_issuer: null,
  oidc_client_id: null,
  oidc_client_secret: null,
}
const providersIn = (input: Partial<Domain>): Partial<Domain> =>
  Object.fromEntries(Object.keys(noProviders).flatMap((name) => (name in input ? [[name, input[name as keyof Domain] ?? null]] : [])))
/** Whom a provider of the domain has named so far, and what it may change. */
const forgetProvider = async (tables: AccountTables, domain: Domain): Promise<void> => {
  for (const kind of ['oidc', 'saml'] as const) await tables.identities.remove({ provider: ofDomain(kind, domain) })
  await endProvisioning(tables, domain)
}
/** An administrator who enforces a provider for the own address has signed in with it: otherwise a mistake would lock out everybody who could correct it. */
const mustHaveTried = ({ user }: ActingMember, domain: Domain, provider: string | null): void => {
  if (domain.sso_enforcement === '' || domainOf(user.email) !== domain.domain || requiredProvider(domain) === provider) return
  throw invalid(
    'Sign in with this provider first: it shows that it works, and you are not locked out.',
    'sso_enforcement',
    'sso_login_required',
  )
}
/** What was asked for before takes effect. */
const prove = async (
  context: AccountContext,
  tables: AccountTables,
  domain: Domain,
  by: ActingMember | null,
  from: From | null = null,
): Promise<Domain> => {
  const change: Partial<Domain> = {
    ...(domain.pending as Pending | null),
    pending: null,
    verified_at: context.clock(),
    is_assumed: false,
    last_verification_retry: null,
    proof: by === null ? 'operator' : 'dns',
    proof_checked_at: context.clock(),
    proof_missing_since: null,
  }
  await tables.domains.update({ id: domain.id }, change)
  await log(context, tables, { ...note(by, domain, 'verified'), from })
  return { ...domain, ...change }
}
const proofs = (context: AccountContext) => ({
  /** Queries the name servers. A missing record, or no answer, is not an error: the domain stays unverified and can be checked again. */
  async verify(by: ActingMember, asked: Domain, from: From | null = null): Promise<Domain> {
    if (isProven(context, asked)) throw invalid('This domain has already been verified.', null, 'already_verified')
    const lookUp = () => context.lookupTxt(challengeName(asked.domain))
    const texts = await context.outbound.names(asked.organization_id, lookUp).catch((error: unknown): readonly string[] => {
      context.report('DNS lookup failed', error)
      return []
    })
    return writeAs(context, by, async (tables) => {
      const domain = await asItIs(tables, asked.id)
      const isSame = domain.domain === asked.domain && domain.verification_challenge === asked.verification_challenge
      // The lookup took time. Its result is for the name and the challenge that were looked up.
      if (!isSame || isProven(context, domain)) return domain
      const now = context.clock()
      const isFound = texts.includes(domain.verification_challenge)
      if (isFound) return prove(context, tables, domain, by, from)
      await tables.domains.update({ id: domain.id }, { last_verification_retry: now })
      return { ...domain, last_verification_retry: now }
    })
  },

  /**
   * The operator vouches for a domain. Without an organization it is the one that claimed it; with one, the domain becomes its own, unless another
   * organization has proven it.
   */
  vouch: (name: string, organizationId: string | null): Promise<Domain> =>
    context.store.write(async (tables) => {
      const claimed = await tables.domains.first({ domain: name })
      if (organizationId !== null && !(await tables.organizations.first({ id: organizationId })))
        throw notFound(`There is no organization ${organizationId}.`)
      if (!claimed && organizationId === null)
        throw notFound(`No organization has the domain ${name}. Name the organization that it belongs to.`)
      if (claimed && (organizationId === null || claimed.organization_id === organizationId)) {
        if (isProven(context, claimed)) throw invalid('This domain has already been verified.', null, 'already_verified')
        return prove(context, tables, claimed, null)
      }
      if (!domainName.test(name)) throw invalid(notDomain, 'domain')
      if (claimed) {
        if (isProven(context, claimed))
          throw invalid(`The domain ${name} has been proven by the organization ${claimed.organization_id}.`, 'domain', 'unique')
        await tables.domains.remove({ id: claimed.id })
        await forgetProvider(tables, claimed)
        await log(context, tables, note(null, claimed, 'deleted'))
      }
      const made: Domain = {
        id: context.newId(),
        organization_id: organizationId!,
        domain: name,
        ...unproven(context),
        last_verification_retry: null,
        ...noProviders,
        created_at: context.clock(),
      }
      await tables.domains.insert(made)
      await log(context, tables, note(null, made, 'created'))
      return prove(context, tables, made, null)
    }),

  /** The operator lets users of a domain in whom its provider locks out, or decides for its organization. */
  enforceByOperator: (name: string, sso_enforcement: string): Promise<Domain> =>
    context.store.write(async (tables) => {
      const domain = await tables.domains.first({ domain: name.toLowerCase() })
      if (!domain) throw notFound(`No organization has the domain ${name}. \`waymark domains list\` shows them.`)
      const change = check(signInInput, { sso_enforcement })
      if (change.sso_enforcement !== '' && !isProven(context, domain))
        throw invalid(
          `The domain ${name} is not proven, so nothing is enforced. Prove it first: \`waymark domains verify ${name}\`.`,
          'domain',
        )
      await tables.domains.update({ id: domain.id }, change)
      const changes = changesOf('OrganizationDomain', domain, change)
      if (changes.length > 0) await log(context, tables, { ...note(null, domain, 'updated'), changes })
      return { ...domain, ...change }
    }),
})

export const createDomains = (context: AccountContext) => {
  const { store } = context
  return {
    list: async (organizationId: string) =>
      [...(await store.read.domains.find({ organization_id: organizationId }))].sort((a, b) => (a.domain < b.domain ? -1 : 1)),
    byId: (organizationId: string, id: string) => store.read.domains.first({ id, organization_id: organizationId }),

    isProven: (domain: Pick<Domain, 'verified_at' | 'is_assumed'>) => isProven(context, domain),

    /** Settings that need a proof wait for it in `pending`. */
    create: (by: ActingMember, body: unknown, from: From | null = null): Promise<Domain> =>
      writeAs(context, by, async (tables, { organization_id }) => {
        const input = check(domainInput, body)
        await mustBeFree(tables, input.domain)
        const now = context.clock()
        const id = context.newId()
        const domain: Domain = {
          id,
          organization_id,
          domain: input.domain,
          ...unproven(context),
          pending: waiting(input),
          last_verification_retry: null,
          ...noProviders,
          ...providersIn(sealed(context, id, input)),
          created_at: now,
        }
        await tables.domains.insert(domain)
        await log(context, tables, { ...note(by, domain, 'created'), from })
        return domain
      }),

    /** `provider`: what has signed in the one who asks; undefined: not by a session. */
    update: (
      by: ActingMember,
      { id }: Domain,
      body: unknown,
      { from, provider }: { readonly from: From | null; readonly provider?: string | null | undefined } = { from: null },
    ): Promise<Domain> =>
      writeAs(context, by, async (tables) => {
        const domain = await asItIs(tables, id)
        const given = sealed(context, id, check(domainChange, body))
        const isRenamed = given.domain !== undefined && given.domain !== domain.domain
        if (given.domain !== undefined) await mustBeFree(tables, given.domain, domain)
        // What was proven and decided was about the name before.
        // The secret is for the issuer that it was given with.
        const isOtherIssuer = given.oidc_issuer !== undefined && given.oidc_issuer !== domain.oidc_issuer
        const forgotten = isOtherIssuer && given.oidc_client_secret === undefined ? { oidc_client_secret: null } : {}
        const change: Partial<Domain> = { ...(isRenamed && unproven(context)), ...given, ...forgotten }
        if (isRenamed) await forgetProvider(tables, domain)
        const verified_at = isRenamed ? unproven(context).verified_at : domain.verified_at
        for (const field of needProof)
          if (given[field] !== undefined && !verified_at)
            throw invalid('This attribute cannot be updated until the domain is verified.', field, 'verification_required')
        const after = { ...domain, ...change }
        if (given.sso_enforcement !== undefined && provider !== undefined) mustHaveTried(by, after, provider)
        await tables.domains.update({ id }, change)
        const { verification_challenge: _, oidc_client_secret, ...shown } = change as Partial<Domain>
        const secret = oidc_client_secret === undefined ? {} : { oidc_client_secret: oidc_client_secret === null ? null : 'masked' }
        const before = { ...domain, oidc_client_secret: null }
        const changes = changesOf('OrganizationDomain', before, { ...shown, ...secret })
        if (changes.length > 0) await log(context, tables, { ...note(by, domain, 'updated'), changes, from })
        return after
      }),
    ...proofs(context),

    remove: (by: ActingMember, { id }: Domain, from: From | null = null): Promise<void> =>
      writeAs(context, by, async (tables) => {
        const domain = await asItIs(tables, id)
        await tables.domains.remove({ id })
        await forgetProvider(tables, domain)
        await log(context, tables, { ...note(by, domain, 'deleted'), from })
      }),
  }
}
