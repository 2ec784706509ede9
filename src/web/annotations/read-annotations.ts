import { useEffect, useState } from 'preact/hooks'
import type { AnnotationAnswer } from '../../doors/answers/annotations.ts'
import { get, type Page } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'

// The annotations of a range, read once for all charts of a page that show it.

const most = 200
const keptMs = 5_000
const mostKept = 50
const kept = new Map<string, { readonly since: number; readonly value: Promise<readonly AnnotationAnswer[]> }>()
const listeners = new Set<() => void>()

/** After one was written: charts read them again. */
export function annotationsChanged(): void {
  kept.clear()
  for (const listener of listeners) listener()
}

function read(path: string): Promise<readonly AnnotationAnswer[]> {
  const known = kept.get(path)
  if (known && Date.now() - known.since < keptMs) return known.value
  const value = get<Page<AnnotationAnswer>>(path).then(({ results }) => results)
  kept.delete(path)
  kept.set(path, { since: Date.now(), value })
  const [oldest] = kept.keys()
  if (kept.size > mostKept) kept.delete(oldest!)
  value.catch(() => kept.delete(path))
  return value
}

/** Those from one instant to another. A chart without them is still a chart: what fails shows none. */
export function useAnnotations(range: { readonly from: string; readonly to: string } | null): readonly AnnotationAnswer[] {
  const { api } = useProject()
  const [round, setRound] = useState(0)
  const [found, setFound] = useState<readonly AnnotationAnswer[]>([])
  const path = range && api(`annotations/?${new URLSearchParams({ date_from: range.from, date_to: range.to, limit: String(most) })}`)
  useEffect(() => {
    const again = () => setRound((before) => before + 1)
    listeners.add(again)
    return () => void listeners.delete(again)
  }, [])
  useEffect(() => {
    if (path === null) return setFound([])
    let isLeft = false
    read(path).then(
      (annotations) => isLeft || setFound(annotations),
      () => isLeft || setFound([]),
    )
    return () => {
      isLeft = true
    }
  }, [path, round])
  return found
}
