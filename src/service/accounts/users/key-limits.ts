import type { PersonalKey, ProjectRecord } from '../records.ts'

// A key may be limited to projects or organizations. All others behave as if its user were not a member.

export const scopedTeams = (key: PersonalKey): readonly number[] => (key.scoped_teams as readonly number[] | null) ?? []
export const scopedOrganizations = (key: PersonalKey): readonly string[] => (key.scoped_organizations as readonly string[] | null) ?? []

export interface Limits {
  /** For records of an organization: a key limited to projects has no access. */
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
