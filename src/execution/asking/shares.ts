// Fair shares of the engine. The smallest share is next: first among projects, then among the callers within a project. A newcomer starts
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

export interface Sharer {
  readonly project: number
  readonly caller: string
}

const least = (shares: Iterable<Share>): number => {
  let found = Number.POSITIVE_INFINITY
  for (const { used } of shares) found = Math.min(found, used)
  return Number.isFinite(found) ? found : 0
}

export const createShares = () => {
  const projects = new Map<number, ProjectShare>()
  const of = ({ project, caller }: Sharer) => {
    const whole = projects.get(project)!
    return { whole, own: whole.callers.get(caller)! }
  }
  return {
    join({ project, caller }: Sharer): void {
      const whole = projects.get(project) ?? { used: least(projects.values()), present: 0, callers: new Map() }
      const own = whole.callers.get(caller) ?? { used: least(whole.callers.values()), present: 0 }
      projects.set(project, whole)
      whole.callers.set(caller, own)
      whole.present++
      own.present++
    },
    use(sharer: Sharer, ms: number): void {
      const { whole, own } = of(sharer)
      whole.used += ms
      own.used += ms
    },
    leave(sharer: Sharer): void {
      const { whole, own } = of(sharer)
      if (--own.present === 0) whole.callers.delete(sharer.caller)
      if (--whole.present === 0) projects.delete(sharer.project)
    },
    used(sharer: Sharer): { readonly project: number; readonly caller: number } {
      const { whole, own } = of(sharer)
      return { project: whole.used, caller: own.used }
    },
  }
}
