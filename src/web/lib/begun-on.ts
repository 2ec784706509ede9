import { linkTo, type Place } from './router.ts'

/** The dashboard on which a new question was begun, as parameters of the address of the builder. `as`: how it was looked at (dates, filters, live), to come back to the same. */
export interface Board {
  readonly dashboard: string | null
  readonly as: string | null
}

export const boardOf = (id: number, { search }: Place): Board => ({ dashboard: String(id), as: search.size > 0 ? String(search) : null })

export function boardIn({ search }: Place): Board {
  const dashboard = search.get('dashboard')
  return dashboard !== null && /^\d{1,9}$/.test(dashboard) ? { dashboard, as: search.get('as') } : { dashboard: null, as: null }
}

/** `path`: of the dashboard. */
export const linkBack = (path: string, { as }: Board): string => linkTo(path, Object.fromEntries(new URLSearchParams(as ?? '')))
