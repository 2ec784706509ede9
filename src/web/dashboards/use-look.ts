import { useMemo } from 'preact/hooks'
import type { WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import { current, go, linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { readValues, withValues } from '../sql/variables.ts'
import { type BoardFilters, type Look, variablesOfTiles } from './model.ts'

const filtersOf = (text: string | null): BoardFilters | null => {
  try {
    const value: unknown = text === null ? null : JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** What the address says about a dashboard: filters and values of this look, and whether it follows the events. `onLook`: before another look. */
export function useLook(dashboard: WholeDashboardAnswer, place: Place, onLook: () => void) {
  const { link } = useProject()
  const override = filtersOf(place.search.get('filters'))
  const values = readValues(place.search.get('values'))
  const variables = useMemo(() => variablesOfTiles(dashboard), [dashboard])
  const look: Look = { override, filters: { ...dashboard.filters, ...override }, values, variables: withValues(variables, values) }
  const address = (parameters: Readonly<Record<string, string | null>>) =>
    go(linkTo(link(`dashboards/${dashboard.id}`), { ...Object.fromEntries(current().search), ...parameters }), true)
  return {
    look,
    /** From what the dashboard has for everybody. */
    isChanged: override !== null || Object.keys(values).length > 0,
    isLive: place.search.has('live') || place.search.has('wall'),
    /** Only the tiles, as large as the screen lets them be. */
    isOnWall: place.search.has('wall'),
    lookAt(next: BoardFilters | null, nextValues: Look['values']): void {
      onLook()
      const isEmpty = Object.keys(nextValues).length === 0
      address({ filters: next && JSON.stringify(next), values: isEmpty ? null : JSON.stringify(nextValues) })
    },
    setLive: (isOn: boolean): void => address({ live: isOn ? '1' : null }),
    /** Who leaves it still follows the events. */
    setWall: (isOn: boolean): void => address(isOn ? { wall: '1' } : { wall: null, live: '1' }),
  }
}
