import type { UserAnswer } from '../../doors/answers/users.ts'
import { useSession } from '../lib/session.ts'

export const levels = [
  { value: '0', label: 'Viewer' },
  { value: '1', label: 'Member' },
  { value: '8', label: 'Administrator' },
  { value: '15', label: 'Owner' },
] as const
export const levelName = (level: number): string => levels.find(({ value }) => value === String(level))?.label ?? String(level)
export const level = { viewer: 0, member: 1, admin: 8, owner: 15 } as const

/** The organization of the project that is open, and what the caller is in it. */
export function useOrganization() {
  const { user, project } = useSession()
  const own = user.organizations.find(({ id }) => id === project.organization)
  const held = own?.membership_level ?? -1
  return {
    id: project.organization,
    name: own?.name ?? '',
    level: held,
    isAdmin: held >= level.admin,
    isOwner: held >= level.owner,
    api: (path: string) => `api/organizations/${project.organization}/${path}`,
  }
}

export const personName = ({ first_name, last_name, email }: UserAnswer): string =>
  [first_name, last_name].filter(Boolean).join(' ') || email
