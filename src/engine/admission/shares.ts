// Fair shares of the engine. The smallest share is next: first among organizations, then among their projects, then among the callers within a project. A newcomer starts
// with the smallest current share, so that idle time earns no credit. Leaving cancels the debt.

interface Share {
  /** Milliseconds of slots that were released. */
  used: number
  /** Statements that wait or run. */
  present: number
}
interface ProjectShare extends Share {
  readonly callers: Map<string, Share>
}

interface OrganizationShare extends Share {
  readonly projects: Map<number, ProjectShare>
}

export interface Sharer {
  /** Default: the project is one of its own. */
  readonly organization?: string | undefined
  readonly project: number
  readonly caller: string
}

const least = (shares: Iterable<Share>): number => {
  let found = Number.POSITIVE_INFINITY
  for (const { used } of shares) found = Math.min(found, used)
  return Number.isFinite(found) ? found : 0
}

export const organizationOf = ({ organization, project }: Sharer): string => organization ?? `project ${project}`

export const createShares = () => {
  const organizations = new Map<string, OrganizationShare>()
  const of = (sharer: Sharer) => {
    const all = organizations.get(organizationOf(sharer))!
    const whole = all.projects.get(sharer.project)!
    return { all, whole, own: whole.callers.get(sharer.caller)! }
  }
  return {
    join(sharer: Sharer): void {
      const { project, caller } = sharer
      const all = organizations.get(organizationOf(sharer)) ?? { used: least(organizations.values()), present: 0, projects: new Map() }
      const whole = all.projects.get(project) ?? { used: least(all.projects.values()), present: 0, callers: new Map() }
      const own = whole.callers.get(caller) ?? { used: least(whole.callers.values()), present: 0 }
      organizations.set(organizationOf(sharer), all)
      all.projects.set(project, whole)
      whole.callers.set(caller, own)
      for (const one of [all, whole, own]) one.present++
    },
    use(sharer: Sharer, ms: number): void {
      const { all, whole, own } = of(sharer)
      for (const one of [all, whole, own]) one.used += ms
    },
    leave(sharer: Sharer): void {
      const { all, whole, own } = of(sharer)
      if (--own.present === 0) whole.callers.delete(sharer.caller)
      if (--whole.present === 0) all.projects.delete(sharer.project)
      if (--all.present === 0) organizations.delete(organizationOf(sharer))
    },
    used(sharer: Sharer): { readonly organization: number; readonly project: number; readonly caller: number } {
      const { all, whole, own } = of(sharer)
      return { organization: all.used, project: whole.used, caller: own.used }
    },
  }
}
