import type { PersonalKey, ProjectRecord } from './records.ts'

// A key may be limited to projects or organizations. What it does not reach is to it as if its user had no part in it.

export const scopedTeams = (key: PersonalKey): readonly number[] => (key.scoped_teams as readonly number[] | null) ?? []
export const scopedOrganizations = (key: PersonalKey): readonly string[] => (key.scoped_organizations as readonly string[] | null) ?? []

export interface Limits {
  /** The records of an organization: a key limited to projects reaches none. */
  readonly reachesOrganization: (id: string) => boolean
  readonly reachesProject: (project: ProjectRecord) => boolean
}

export const unlimited: Limits = { reachesOrganization: () => true, reachesProject: () => true }

export const limitsOf = (key: PersonalKey): Limits => {
  const [teams, organizations] = [scopedTeams(key), scopedOrganizations(key)]
  const isNamed = (id: string) => organizations.length === 0 || organizations.includes(id)
  return {
    reachesOrganization: (id) => teams.length === 0 && isNamed(id),
    reachesProject: ({ id, organization_id }) => (teams.length === 0 || teams.includes(id)) && isNamed(organization_id),
  }
}
