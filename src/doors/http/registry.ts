import type { Resource } from './resource.ts'
import { actions } from './resources/actions.ts'
import { agents } from './resources/agents.ts'
import { alerts } from './resources/alerts.ts'
import { annotations } from './resources/annotations.ts'
import { backups } from './resources/backups.ts'
import { batchExports, organizationBatchExports } from './resources/batch-exports.ts'
import { cohorts } from './resources/cohorts.ts'
import { consentMetadata, consents, oauth } from './resources/consents.ts'
import { dashboards } from './resources/dashboards.ts'
import { domains } from './resources/domains.ts'
import { eventDefinitions } from './resources/event-definitions.ts'
import { events } from './resources/events.ts'
import { featureFlags } from './resources/feature-flags.ts'
import { groupResources } from './resources/groups.ts'
import { historicalImport } from './resources/historical-import.ts'
import { imports } from './resources/imports.ts'
import { ingestionWarnings } from './resources/ingestion-warnings.ts'
import { insights } from './resources/insights.ts'
import { invites } from './resources/invites.ts'
import { login, setup, signup } from './resources/login.ts'
import { members } from './resources/members.ts'
import { notKeptResources } from './resources/not-kept.ts'
import { ofrep } from './resources/ofrep.ts'
import { oidc } from './resources/oidc.ts'
import { organizations } from './resources/organizations.ts'
import { passkeys } from './resources/passkeys.ts'
import { passwordLinks } from './resources/password-links.ts'
import { personDeletions } from './resources/person-deletions.ts'
import { personalKeys } from './resources/personal-keys.ts'
import { persons } from './resources/persons.ts'
import { pluginConfigResources } from './resources/plugin-configs.ts'
import { pluginResources } from './resources/plugins.ts'
import { projectMembers } from './resources/project-members.ts'
import { projectRoles } from './resources/project-roles.ts'
import { organizationProjectList, organizationProjects, projectList, projects } from './resources/projects.ts'
import { propertyDefinitions } from './resources/property-definitions.ts'
import { proxyRecords } from './resources/proxy-records.ts'
import { query } from './resources/query.ts'
import { roleMemberships, roles } from './resources/roles.ts'
import { saml } from './resources/saml.ts'
import { savedFilters } from './resources/saved-filters.ts'
import { savedQueries } from './resources/saved-queries.ts'
import { scim } from './resources/scim.ts'
import { session } from './resources/session.ts'
import { shared } from './resources/shared.ts'
import { sharingResources } from './resources/sharing.ts'
import { slowQueries } from './resources/slow-queries.ts'
import { subscriptions } from './resources/subscriptions.ts'
import { twoFactor } from './resources/two-factor.ts'
import { users } from './resources/users.ts'
import { viewer } from './resources/viewer.ts'
import { viewerKeys, viewerTokens } from './resources/viewer-keys.ts'
import { watches } from './resources/watches.ts'

/** Every resource of the API, in the order of its description. */
export const resources: readonly Resource[] = [
  organizations,
  members,
  invites,
  domains,
  roles,
  roleMemberships,
  proxyRecords,
  backups,
  organizationProjectList,
  organizationProjects,
  projectList,
  projects,
  projectMembers,
  projectRoles,
  organizationBatchExports,
  batchExports,
  ...pluginResources,
  ...pluginConfigResources,
  historicalImport,
  imports,
  ingestionWarnings,
  query,
  agents,
  consentMetadata,
  oauth,
  consents,
  slowQueries,
  events,
  persons,
  personDeletions,
  ...groupResources,
  insights,
  dashboards,
  annotations,
  savedQueries,
  savedFilters,
  actions,
  cohorts,
  eventDefinitions,
  propertyDefinitions,
  ...sharingResources,
  shared,
  featureFlags,
  ofrep,
  viewer,
  viewerKeys,
  viewerTokens,
  alerts,
  subscriptions,
  watches,
  personalKeys,
  users,
  twoFactor,
  passkeys,
  login,
  session,
  passwordLinks,
  oidc,
  saml,
  scim,
  signup,
  setup,
  ...notKeptResources,
]
