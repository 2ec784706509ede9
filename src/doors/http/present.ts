import { maybeTime, time } from '../../lib/time/wire-time.ts'
import type { Accounts } from '../../service/accounts/accounts.ts'
import { featureKeys } from '../../service/accounts/organizations/features.ts'
import { settingsWithDefaults } from '../../service/accounts/projects/project-fields.ts'
import type { Membership, Organization, ProjectRecord, User } from '../../service/accounts/records.ts'
import { preferenceDefaults } from '../../service/accounts/users/users.ts'
import type { OrganizationAnswer, ShortProjectAnswer } from '../answers/organizations.ts'
import type { UserAnswer } from '../answers/users.ts'

// The format of records that several resources share.

export { maybeTime, time }

export const presentUser = (user: User): UserAnswer => ({
  id: user.id,
  uuid: user.uuid,
  distinct_id: user.distinct_id,
  first_name: user.first_name,
  last_name: user.last_name,
  email: user.email,
  is_email_verified: user.is_email_verified,
  mascot_config: null,
})
export const presentAuthor = async (accounts: Accounts, id: number | null) => {
  const user = id === null ? undefined : await accounts.users.byId(id)
  return user ? presentUser(user) : null
}

export const presentShortProject = (project: ProjectRecord): ShortProjectAnswer => {
  const settings = settingsWithDefaults(project.settings)
  return {
    id: project.id,
    uuid: project.uuid,
    organization: project.organization_id,
    project_id: project.id,
    api_token: project.api_token,
    name: project.name,
    completed_snippet_onboarding: settings.completed_snippet_onboarding === true,
    has_completed_onboarding_for: settings.has_completed_onboarding_for,
    ingested_event: project.ingested_event,
    is_demo: project.is_demo,
    timezone: project.timezone,
    week_start_day: project.week_start_day,
    access_control: project.access_control,
  }
}

export const presentOrganization = async (
  accounts: Accounts,
  organization: Organization,
  membership: Membership | undefined,
): Promise<OrganizationAnswer> => {
  const projects = await accounts.projects.visible(organization.id, membership)
  const features = organization.available_product_features
  return {
    id: organization.id,
    name: organization.name,
    slug: organization.slug,
    created_at: time(organization.created_at),
    updated_at: time(organization.updated_at),
    membership_level: membership?.level ?? null,
    plugins_access_level: organization.plugins_access_level,
    teams: projects.map(presentShortProject),
    projects: projects.map((project) => ({ id: project.id, organization_id: organization.id, name: project.name })),
    available_product_features: Array.isArray(features) ? [...features] : null,
    available_features: featureKeys(organization),
    is_member_join_email_enabled: organization.is_member_join_email_enabled,
    metadata: { instance_tag: accounts.context.settings().instanceTag },
    customer_id: null,
    enforce_2fa: organization.enforce_2fa,
    member_count: await accounts.organizations.memberCount(organization.id),
    not_enforced: [],
  }
}

export const presentPreferences = (user: User): Record<string, unknown> => ({ ...preferenceDefaults, ...(user.preferences as object) })
