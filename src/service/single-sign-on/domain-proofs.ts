import { type AccountContext, log, type Mail, post } from '../accounts/context.ts'
import { type AccountTables, type Domain, level } from '../accounts/records.ts'
import { isProvenDomain } from '../accounts/single-sign-on/enforcing-domain.ts'
import type { Due, Kind } from '../jobs/kind.ts'
import type { Retry } from '../jobs/retry.ts'
import { createRunner, type Runner, type RunnerParts } from '../jobs/runner.ts'

// Asks name servers again whether a domain is still proven: a domain can get another owner. A record that is missing for some days ends the proof, and with it what the
// domain enforces. Name servers that do not answer end nothing, and neither does anything that the operator has confirmed.

const day = 86_400_000
const checkEveryMs = day
const graceMs = 3 * day
const lookEveryMs = 3_600_000
const retry: Retry = { attempts: Number.POSITIVE_INFINITY, firstMs: 600_000, growth: 2, longestMs: day / 2, jitter: 0.25 }
/** Domains belong to no project. */
const noProject = 0

export interface DomainProofParts extends RunnerParts {
  readonly context: AccountContext
}

const isChecked = (context: AccountContext, domain: Domain): boolean => isProvenDomain(context, domain) && domain.proof !== 'operator'
const nextCheck = ({ proof_checked_at, verified_at }: Domain): number => (proof_checked_at ?? verified_at!).getTime() + checkEveryMs

type Outcome = 'proven' | 'missing' | 'lapsed' | 'unchanged'
/** Of versions that did not note what proved a domain: the operator perhaps did, so a missing record says nothing. */
function outcomeOf({ proof, proof_missing_since }: Domain, isThere: boolean, now: Date): Outcome {
  if (isThere) return 'proven'
  if (proof === null) return 'unchanged'
  if (proof_missing_since === null) return 'missing'
  return now.getTime() - proof_missing_since.getTime() >= graceMs ? 'lapsed' : 'unchanged'
}

const settingsOf = ({ jit_provisioning_enabled, sso_enforcement }: Domain) => ({
  ...(jit_provisioning_enabled && { jit_provisioning_enabled }),
  ...(sso_enforcement !== '' && { sso_enforcement }),
})

/** What it enforced waits for the next proof. */
const lapse = ({ settings }: AccountContext, domain: Domain): Partial<Domain> => {
  const waiting = settingsOf(domain)
  return {
    verified_at: settings().isHosted ? null : domain.created_at,
    is_assumed: !settings().isHosted,
    proof: null,
    proof_missing_since: null,
    jit_provisioning_enabled: false,
    sso_enforcement: '',
    pending: Object.keys(waiting).length > 0 ? waiting : null,
  }
}

const record = (domain: Domain) => `the TXT record _waymark-challenge.${domain.domain} with the text ${domain.verification_challenge}`
const mailAbout = (context: AccountContext, domain: Domain, isLapsed: boolean): Pick<Mail, 'subject' | 'text'> =>
  isLapsed
    ? {
        subject: `${domain.domain} is not proven any more`,
        text: [
          `Name servers have not had ${record(domain)} for three days, so the domain counts as not proven at ${context.settings().siteUrl}.`,
          '',
          'Users with its addresses can sign in with a password again, nobody joins by the domain, and its identity provider can change nothing. What was set waits: it applies again as soon as the domain is proven, in Settings → Domains.',
        ].join('\n'),
      }
    : {
        subject: `The proof of ${domain.domain} is missing`,
        text: [
          `Name servers do not have ${record(domain)} any more.`,
          '',
          `If it does not come back within three days, the domain counts as not proven at ${context.settings().siteUrl}, and single sign-on is not required for its addresses any more.`,
        ].join('\n'),
      }

async function tellOwners(context: AccountContext, domain: Domain, isLapsed: boolean): Promise<void> {
  const { read } = context.store
  const owning = await read.memberships.find({ organization_id: domain.organization_id, level: level.owner })
  const owners = await read.users.find({ id: owning.map(({ user_id }) => user_id) })
  const mail = mailAbout(context, domain, isLapsed)
  const to = owners.filter(({ is_active }) => is_active)
  await post(
    context,
    domain.organization_id,
    to.map(({ email }) => ({
      to: email,
      ...mail,
      messageId: `<domain-${domain.id}-${isLapsed ? 'lapsed' : 'missing'}-${dayOf(domain)}@waymark>`,
    })),
  )
}
/** The same at every attempt. */
const dayOf = ({ proof_checked_at }: Domain): string => (proof_checked_at?.getTime() ?? 0).toString(36)

async function write(context: AccountContext, tables: AccountTables, domain: Domain, outcome: Outcome): Promise<void> {
  const now = context.clock()
  const change: Partial<Domain> = {
    proof_checked_at: now,
    ...(outcome === 'proven' && { proof: 'dns', proof_missing_since: null }),
    ...(outcome === 'missing' && { proof_missing_since: now }),
    ...(outcome === 'lapsed' && lapse(context, domain)),
  }
  await tables.domains.update({ id: domain.id }, change)
  if (outcome !== 'missing' && outcome !== 'lapsed') return
  await log(context, tables, {
    by: null,
    organization_id: domain.organization_id,
    scope: 'OrganizationDomain',
    item_id: domain.id,
    activity: outcome === 'lapsed' ? 'proof_lapsed' : 'proof_missing',
    name: domain.domain,
  })
}

/** The domain that was looked up: nobody has renamed, proven or removed it meanwhile. */
const asLookedUp = async (context: AccountContext, tables: AccountTables, looked: Domain): Promise<Domain | null> => {
  const domain = await tables.domains.first({ id: looked.id, domain: looked.domain, verification_challenge: looked.verification_challenge })
  return domain && isChecked(context, domain) ? domain : null
}

function proofKind({ context }: DomainProofParts): Kind<Domain> {
  const { store, clock } = context
  return {
    name: 'domain proofs',
    share: { slots: 2 },
    retry,
    mostMs: 60_000,
    guarantee: 'at least once',
    async due(now) {
      const checked = (await store.read.domains.find({})).filter((domain) => isChecked(context, domain))
      const due = checked.map((item): Due<Domain> => ({ id: item.id, projectId: noProject, at: nextCheck(item), item }))
      return { due, next: now.getTime() + lookEveryMs }
    },
    async claim(tables, item, now) {
      const domain = await asLookedUp(context, tables, item)
      return domain && nextCheck(domain) <= now.getTime() ? domain : null
    },
    async run(domain) {
      const lookUp = () => context.lookupTxt(`_waymark-challenge.${domain.domain}`)
      const texts = await context.outbound.names(domain.organization_id, lookUp)
      const outcome = outcomeOf(domain, texts.includes(domain.verification_challenge), clock())
      if (outcome === 'missing' || outcome === 'lapsed') await tellOwners(context, domain, outcome === 'lapsed')
      return async (tables) => {
        const now = await asLookedUp(context, tables, domain)
        if (now) await write(context, tables, now, outcome)
      }
    },
  }
}

export const createDomainProofs = (parts: DomainProofParts): Runner => createRunner(parts, [proofKind(parts)])
