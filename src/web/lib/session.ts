import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ShortProjectAnswer } from '../../doors/answers/organizations.ts'
import type { MeAnswer, SessionAnswer } from '../../doors/answers/users.ts'
import { allOf, ask as askProject, get, type Query } from './api.ts'

export interface Session {
  readonly user: MeAnswer
  readonly projects: readonly ShortProjectAnswer[]
  readonly project: ShortProjectAnswer
  /** Organizations that show nothing to the user without a second factor. */
  readonly requires2fa: SessionAnswer['requires_2fa']
  reload(): Promise<void>
}

const Current = createContext<Session | null>(null)
export const SessionProvider = Current.Provider

/** Also where there is no project: while a second factor is set up. */
const CurrentUser = createContext<MeAnswer | null>(null)
export const UserProvider = CurrentUser.Provider

export function useUser(): MeAnswer {
  const user = useContext(Current)?.user ?? useContext(CurrentUser)
  if (!user) throw new Error('This part is shown to signed-in users only.')
  return user
}

export function useSession(): Session {
  const session = useContext(Current)
  if (!session) throw new Error('This part is shown to signed-in users only.')
  return session
}

/** Paths and queries of the current project. */
export function useProject() {
  const { project, user } = useSession()
  const level = user.organizations.find(({ id }) => id === project.organization)?.membership_level ?? null
  return {
    ...project,
    /** Viewers see and ask, and change nothing. */
    mayChange: level !== 0,
    api: (path: string) => `api/projects/${project.id}/${path}`,
    link: (path: string) => `project/${project.id}/${path}`,
    ask: (query: Query, signal?: AbortSignal, refresh?: string) => askProject(project.id, query, signal, refresh),
  }
}
export type CurrentProject = ReturnType<typeof useProject>

export interface SignedIn extends Pick<Session, 'user' | 'projects' | 'requires2fa'> {
  /** Only setting up a second factor is open. */
  readonly mustSetUp: boolean
}

/** Who is signed in, with all projects. Null: nobody is, which is no error. */
export async function loadSession(): Promise<SignedIn | null> {
  const { user, projects, has_more_projects: hasMore, must_set_up_2fa, requires_2fa } = await get<SessionAnswer>('api/session/')
  if (!user) return null
  return {
    user,
    mustSetUp: must_set_up_2fa,
    requires2fa: requires_2fa,
    projects: hasMore ? [...projects, ...(await allOf<ShortProjectAnswer>(`api/projects/?limit=200&offset=${projects.length}`))] : projects,
  }
}
