import * as z from 'zod'
import { type ActingMember, writeAs } from '../acting-member.ts'
import { type AccountContext, changesOf, entryAbout, log } from '../context.ts'
import { check, choice, flag, text } from '../fields.ts'
import type { AccountTables, Domain } from '../records.ts'
import { invalid, mustFind, notFound } from '../refusals.ts'
import { randomChallenge } from '../secrets/secrets.ts'

/** Labels of lower-case letters, digits and inner hyphens, at least two of them. */
export const domainName = /^(?:[a-z0-9](?:[a-z0-9]|-(?!-))*(?<!-)\.)+[a-z]{2,}$/
export const notDomain = 'Please enter a valid domain or subdomain name.'
const saml = {
  saml_entity_id: text({ max: 512, blank: true }).nullable().optional(),
  saml_acs_url: text({ max: 512, blank: true }).nullable().optional(),
  saml_x509_cert: text({ blank: true }).nullable().optional(),
}
const signIn = {
  jit_provisioning_enabled: flag().optional(),
  sso_enforcement: choice(['', 'google-oauth2', 'github', 'gitlab', 'saml']).optional(),
}
export const domainInput = z.object({
  domain: text({ max: 128 }).refine((value) => domainName.test(value), { error: notDomain }),
  ...saml,
  ...signIn,
})
export const domainChange = domainInput.partial()
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
/** For a name that does not exist here yet. */
const unproven = (context: AccountContext) => ({
  verification_challenge: randomChallenge(),
  verified_at: context.settings().isHosted ? null : context.clock(),
  is_assumed: !context.settings().isHosted,
  jit_provisioning_enabled: false,
  sso_enforcement: '',
  pending: null,
})
const isProven = (context: AccountContext, { verified_at, is_assumed }: Pick<Domain, 'verified_at' | 'is_assumed'>): boolean =>
  verified_at !== null && is_assumed !== true && (is_assumed === false || context.settings().isHosted)
/** What was asked for before takes effect. */
const prove = async (context: AccountContext, tables: AccountTables, domain: Domain, by: ActingMember | null): Promise<Domain> => {
  const change: Partial<Domain> = {
    ...(domain.pending as Pending | null),
    pending: null,
    verified_at: context.clock(),
    is_assumed: false,
    last_verification_retry: null,
  }
  await tables.domains.update({ id: domain.id }, change)
  await log(context, tables, note(by, domain, 'verified'))
  return { ...domain, ...change }
}
const proofs = (context: AccountContext) => ({
  /** Queries the name servers. A missing record, or no answer, is not an error: the domain stays unverified and can be checked again. */
  async verify(by: ActingMember, asked: Domain): Promise<Domain> {
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
      if (isFound) return prove(context, tables, domain, by)
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
        await log(context, tables, note(null, claimed, 'deleted'))
      }
      const made: Domain = {
        id: context.newId(),
        organization_id: organizationId!,
        domain: name,
        ...unproven(context),
        last_verification_retry: null,
        saml_entity_id: null,
        saml_acs_url: null,
        saml_x509_cert: null,
        created_at: context.clock(),
      }
      await tables.domains.insert(made)
      await log(context, tables, note(null, made, 'created'))
      return prove(context, tables, made, null)
    }),
})

export const createDomains = (context: AccountContext) => {
  const { store } = context
  return {
    list: async (organizationId: string) =>
      [...(await store.read.domains.find({ organization_id: organizationId }))].sort((a, b) => (a.domain < b.domain ? -1 : 1)),
    byId: (organizationId: string, id: string) => store.read.domains.first({ id, organization_id: organizationId }),

    /**
     * Whether name servers or the operator said that the domain belongs to the organization. Only then it gives rights: `verified_at` of a server that is
     * not hosted is the time of creation, as clients expect, and says nothing.
     */
    isProven: (domain: Pick<Domain, 'verified_at' | 'is_assumed'>) => isProven(context, domain),

    /** Settings that need a proof wait for it in `pending`. */
    create: (by: ActingMember, body: unknown): Promise<Domain> =>
      writeAs(context, by, async (tables, { organization_id }) => {
        const input = check(domainInput, body)
        await mustBeFree(tables, input.domain)
        const now = context.clock()
        const domain: Domain = {
          id: context.newId(),
          organization_id,
          domain: input.domain,
          ...unproven(context),
          pending: waiting(input),
          last_verification_retry: null,
          saml_entity_id: input.saml_entity_id ?? null,
          saml_acs_url: input.saml_acs_url ?? null,
          saml_x509_cert: input.saml_x509_cert ?? null,
          created_at: now,
        }
        await tables.domains.insert(domain)
        await log(context, tables, note(by, domain, 'created'))
        return domain
      }),

    update: (by: ActingMember, { id }: Domain, body: unknown): Promise<Domain> =>
      writeAs(context, by, async (tables) => {
        const domain = await asItIs(tables, id)
        const given = check(domainChange, body)
        const isRenamed = given.domain !== undefined && given.domain !== domain.domain
        if (given.domain !== undefined) await mustBeFree(tables, given.domain, domain)
        // What was proven and decided was about the name before.
        const change: Partial<Domain> = isRenamed ? { ...unproven(context), ...given } : given
        const verified_at = isRenamed ? unproven(context).verified_at : domain.verified_at
        for (const field of needProof)
          if (given[field] !== undefined && !verified_at)
            throw invalid('This attribute cannot be updated until the domain is verified.', field, 'verification_required')
        await tables.domains.update({ id }, change)
        const { verification_challenge: _, ...shown } = change as Partial<Domain>
        const changes = changesOf('OrganizationDomain', domain, shown)
        if (changes.length > 0) await log(context, tables, { ...note(by, domain, 'updated'), changes })
        return { ...domain, ...change }
      }),
    ...proofs(context),

    remove: (by: ActingMember, { id }: Domain): Promise<void> =>
      writeAs(context, by, async (tables) => {
        const domain = await asItIs(tables, id)
        await tables.domains.remove({ id })
        await log(context, tables, note(by, domain, 'deleted'))
      }),
  }
}
