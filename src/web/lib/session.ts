import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { allOf, ask as askProject, get, type Query } from './api.ts'

export interface User {
  readonly uuid: string
  readonly email: string
  readonly pending_email: string | null
  readonly is_email_verified: boolean | null
  readonly has_password: boolean
  /** The application that signs the user in; null: an account with a password. */
  readonly issuer: string | null
  readonly first_name: string
  readonly last_name: string
  readonly organization: { readonly id: string; readonly name: string } | null
  readonly organizations: readonly { readonly id: string; readonly name: string; readonly membership_level: number | null }[]
  readonly team: { readonly id: number } | null
}
export interface Project {
  readonly id: number
  readonly name: string
  readonly api_token: string
  readonly timezone: string
  readonly organization: string
}

export interface Session {
  readonly user: User
  readonly projects: readonly Project[]
  readonly project: Project
  reload(): Promise<void>
}

const Current = createContext<Session | null>(null)
export const SessionProvider = Current.Provider

export function useSession(): Session {
  const session = useContext(Current)
  if (!session) throw new Error('This part is shown to signed-in users only.')
  return session
}

/** Paths and queries of the current project. */
export function useProject() {
  const { project } = useSession()
  return {
    ...project,
    api: (path: string) => `api/projects/${project.id}/${path}`,
    link: (path: string) => `project/${project.id}/${path}`,
    ask: (query: Query, signal?: AbortSignal, refresh?: string) => askProject(project.id, query, signal, refresh),
  }
}
export type CurrentProject = ReturnType<typeof useProject>

interface SessionAnswer {
  /** Null: nobody is signed in. */
  readonly user: User | null
  readonly projects: readonly Project[]
  readonly has_more_projects: boolean
}

/** Who is signed in, with all projects. Null: nobody is, which is no error. */
export async function loadSession(): Promise<{ readonly user: User; readonly projects: readonly Project[] } | null> {
  const { user, projects, has_more_projects: hasMore } = await get<SessionAnswer>('api/session/')
  if (!user) return null
  return {
    user,
    projects: hasMore ? [...projects, ...(await allOf<Project>(`api/projects/?limit=200&offset=${projects.length}`))] : projects,
  }
}
