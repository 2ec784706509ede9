import { z } from 'zod'
import { type AccountContext, changesOf, log } from './context.ts'
import { check, flag, text } from './fields.ts'
import type { Domain, User } from './records.ts'
import { invalid } from './refusals.ts'
import { randomChallenge } from './secrets.ts'

const domainName = /^(?:[a-z0-9](?:[a-z0-9]|-(?!-))*(?<!-)\.)+[a-z]{2,}$/
const saml = {
  saml_entity_id: text({ max: 512, blank: true }).nullable().optional(),
  saml_acs_url: text({ max: 512, blank: true }).nullable().optional(),
  saml_x509_cert: text({ blank: true }).nullable().optional(),
}
export const domainInput = z.object({
  domain: text({ max: 128 }).refine((value) => domainName.test(value), { error: 'Please enter a valid domain or subdomain name.' }),
  ...saml,
})
export const domainChange = domainInput.partial().extend({
  jit_provisioning_enabled: flag().optional(),
  sso_enforcement: text({ max: 28, blank: true }).optional(),
})
const needProof = ['jit_provisioning_enabled', 'sso_enforcement'] as const

/** The TXT record that proves a domain. */
export const challengeName = (domain: string): string => `_waymark-challenge.${domain}`

export const createDomains = (context: AccountContext) => {
  const { store } = context
  const note = (by: User, domain: Domain, activity: string) => ({
    by,
    organization_id: domain.organization_id,
    scope: 'OrganizationDomain',
    item_id: domain.id,
    activity,
    name: domain.domain,
  })
  const mustBeFree = async (tables: { domains: Pick<typeof store.read.domains, 'first'> }, name: string, own?: Domain) => {
    const other = await tables.domains.first({ domain: name })
    if (other && other.id !== own?.id) throw invalid('domain with this domain already exists.', 'domain', 'unique')
  }
  return {
    list: async (organizationId: string) =>
      [...(await store.read.domains.find({ organization_id: organizationId }))].sort((a, b) => (a.domain < b.domain ? -1 : 1)),
    byId: (organizationId: string, id: string) => store.read.domains.first({ id, organization_id: organizationId }),

    /** On an installation of one's own there is nobody to prove it to. */
    create: (by: User, organizationId: string, body: unknown): Promise<Domain> =>
      store.write(async (tables) => {
        const input = check(domainInput, body)
        await mustBeFree(tables, input.domain)
        const now = context.clock()
        const domain: Domain = {
          id: context.newId(),
          organization_id: organizationId,
          domain: input.domain,
          verification_challenge: randomChallenge(),
          verified_at: context.settings().isHosted ? null : now,
          last_verification_retry: null,
          jit_provisioning_enabled: false,
          sso_enforcement: '',
          saml_entity_id: input.saml_entity_id ?? null,
          saml_acs_url: input.saml_acs_url ?? null,
          saml_x509_cert: input.saml_x509_cert ?? null,
          created_at: now,
        }
        await tables.domains.insert(domain)
        await log(context, tables, note(by, domain, 'created'))
        return domain
      }),

    update: (by: User, domain: Domain, body: unknown): Promise<Domain> =>
      store.write(async (tables) => {
        const change = check(domainChange, body)
        for (const field of needProof)
          if (change[field] && !domain.verified_at)
            throw invalid('This attribute cannot be updated until the domain is verified.', field, 'verification_required')
        if (change.domain !== undefined) await mustBeFree(tables, change.domain, domain)
        // Another name has to be proven anew.
        const isRenamed = change.domain !== undefined && change.domain !== domain.domain
        const updated =
          isRenamed && context.settings().isHosted ? { ...change, verified_at: null, verification_challenge: randomChallenge() } : change
        await tables.domains.update({ id: domain.id }, updated)
        const changes = changesOf('OrganizationDomain', domain, change)
        if (changes.length > 0) await log(context, tables, { ...note(by, domain, 'updated'), changes })
        return { ...domain, ...updated }
      }),

    /** Asks the name servers. No record, or no answer, is no failure: the domain stays unproven and can be asked for again. */
    async verify(by: User, domain: Domain): Promise<Domain> {
      if (domain.verified_at) throw invalid('This domain has already been verified.', null, 'already_verified')
      const texts = await context.lookupTxt(challengeName(domain.domain)).catch((error: unknown): readonly string[] => {
        context.report('the name servers could not be asked', error)
        return []
      })
      const now = context.clock()
      const isProven = texts.includes(domain.verification_challenge)
      const change = isProven ? { verified_at: now, last_verification_retry: null } : { last_verification_retry: now }
      await store.write(async (tables) => {
        await tables.domains.update({ id: domain.id }, change)
        if (isProven) await log(context, tables, note(by, domain, 'verified'))
      })
      return { ...domain, ...change }
    },

    remove: (by: User, domain: Domain): Promise<void> =>
      store.write(async (tables) => {
        await tables.domains.remove({ id: domain.id })
        await log(context, tables, note(by, domain, 'deleted'))
      }),
  }
}
