import { Board } from '../dashboards/board.tsx'
import '../dashboards/dashboards.css'
import { DashboardList } from '../dashboards/list.tsx'
import type { PageProps } from '../lib/page.ts'

/** The list; under an id that dashboard. */
export function Dashboards({ place, rest }: PageProps) {
  const [id] = rest
  return id === undefined ? <DashboardList place={place} /> : <Board id={id} place={place} key={id} />
}
