import { useEffect, useRef, useState } from 'preact/hooks'
import { withoutTrailingSlashes } from '../../lib/text/without-trailing-slashes.ts'
import { hasUnsaved } from './unsaved.ts'

// The page is in the part of the address behind #, so that the interface works wherever the server is mounted.

export interface Place {
  /** Without slashes at the ends: `project/1/insights`. */
  readonly path: string
  readonly parts: readonly string[]
  readonly search: URLSearchParams
}

export const current = (): Place => {
  const [path = '', search = ''] = location.hash.replace(/^#\/?/, '').split('?', 2)
  const clean = withoutTrailingSlashes(path)
  return { path: clean, parts: clean.split('/').map(decoded), search: new URLSearchParams(search) }
}
const decoded = (part: string) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const linkTo = (path: string, search: Readonly<Record<string, string | null | undefined>> = {}): string => {
  const parameters = new URLSearchParams(Object.entries(search).flatMap(([name, value]) => (value == null ? [] : [[name, value]])))
  return `#/${path}${parameters.size > 0 ? `?${parameters}` : ''}`
}

/**
 * `replaces`: the address changes without another step back. The page changes with it, because the browser's own event may come after further keys;
 * but a form that is being saved counts as saved only when that event comes.
 */
export function go(link: string, replaces = false): void {
  if (replaces) history.replaceState(null, '', link)
  else location.hash = link
  if (replaces || !hasUnsaved()) window.dispatchEvent(new HashChangeEvent('hashchange'))
}

/** The place, and whether somebody is leaving a form with what they typed: then the former place stays until they have said so. */
export function usePlace() {
  const [place, setPlace] = useState(current)
  const [isLeaving, setLeaving] = useState(false)
  const shown = useRef(location.hash)
  const arrive = () => {
    shown.current = location.hash
    setLeaving(false)
    setPlace(current())
  }
  useEffect(() => {
    const pathOf = (hash: string) => hash.split('?', 1)[0]
    const follow = () => {
      if (location.hash === shown.current) setLeaving(false)
      else if (pathOf(location.hash) !== pathOf(shown.current) && hasUnsaved()) setLeaving(true)
      else arrive()
    }
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  const stay = () => {
    history.replaceState(null, '', shown.current)
    setLeaving(false)
  }
  return { place, isLeaving, stay, leave: arrive }
}
