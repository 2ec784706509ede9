import type { AccountTables, Organization, Plugin } from '../accounts/records.ts'
import { mustFind, notAllowed } from '../accounts/refusals.ts'

/** What an organization may do with plugins: `plugins_access_level`. */
export const pluginAccess = { none: 0, config: 3, install: 6, root: 9 } as const

export const mustHave = ({ plugins_access_level }: Organization, least: keyof typeof pluginAccess): void => {
  if (plugins_access_level < pluginAccess[least]) throw notAllowed("Your organization's plugin access level is insufficient.")
}

export const mayConfigure = ({ plugins_access_level }: Organization): boolean => plugins_access_level >= pluginAccess.config

export const mustOwn = (plugin: Plugin, organization: Organization): void => {
  if (plugin.organization_id !== organization.id) throw notAllowed('This plugin installation is managed by another organization')
}

export const mustBeGlobalManager = ({ plugins_access_level }: Organization): void => {
  if (plugins_access_level < pluginAccess.root) throw notAllowed("This organization can't manage global plugins!")
}

/** The organization when the write runs: its level may have changed. */
export const organizationNow = (tables: Pick<AccountTables, 'organizations'>, id: string): Promise<Organization> =>
  mustFind(tables.organizations.first({ id }))
