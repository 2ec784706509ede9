import { useEffect, useState } from 'preact/hooks'
import { get, type Page } from './api.ts'
import { useProject } from './session.ts'

/** Names for suggestions. Without them everything can still be typed. */
function useNames(path: string, most = 500): readonly string[] {
  const { api } = useProject()
  const [names, setNames] = useState<readonly string[]>([])
  useEffect(() => {
    const control = new AbortController()
    get<Page<{ name: string }>>(api(`${path}limit=${most}`), control.signal).then(
      ({ results }) => setNames(results.map(({ name }) => name)),
      () => {},
    )
    return () => control.abort()
  }, [path])
  return names
}

export const useEventNames = () => useNames('event_definitions/?')
export const usePropertyNames = (of: 'event' | 'person') => useNames(`property_definitions/?type=${of}&`)
