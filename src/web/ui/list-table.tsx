import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { get, type Page } from '../lib/api.ts'
import { type Loaded, useLoaded } from '../lib/use-loaded.ts'
import { ErrorBox, Working } from './parts.tsx'

// Lists of the API, a page at a time.

interface Links {
  readonly count?: number
  readonly next: string | null
  readonly previous?: string | null
}
export interface Listed<T> extends Loaded<Page<T>> {
  readonly rows: readonly T[] | null
  readonly links: Links | null
  /** Goes where a link of the answer leads. */
  follow(link: string): void
}

/** Links of an answer begin with the public address of the server, which may be another one. */
const pathOf = (link: string) => link.slice(Math.max(0, link.search(/\bapi\//)))

export function useList<T>(path: string): Listed<T> {
  const [at, setAt] = useState(path)
  useEffect(() => setAt(path), [path])
  const loaded = useLoaded((signal) => get<Page<T>>(at, signal), [at])
  return { ...loaded, rows: loaded.value?.results ?? null, links: loaded.value, follow: (link) => setAt(pathOf(link)) }
}

/** A table of a list. While it is read, when it is empty and when it is refused, the page says so. */
export function ListTable<T>({
  list,
  what,
  head,
  row,
  empty,
}: {
  list: Listed<T>
  what: string
  /** Null: a column of buttons. */
  head: readonly (string | null)[]
  row: (one: T) => ComponentChildren
  empty: ComponentChildren
}) {
  const { rows, links, error, isLoading, reload, follow } = list
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!rows) return isLoading ? <Working what={`Reading ${what}`} /> : null
  if (rows.length === 0 && !links?.previous) return <p class="note">{empty}</p>
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={what}>
        <table class="rows">
          <thead>
            <tr>
              {head.map((title, i) => (
                <th key={i}>{title ?? <span class="hidden">Actions</span>}</th>
              ))}
            </tr>
          </thead>
          <tbody>{rows.map(row)}</tbody>
        </table>
      </div>
      {(links?.previous || links?.next) && (
        <div class="row">
          <button type="button" disabled={!links.previous} onClick={() => links.previous && follow(links.previous)}>
            Previous
          </button>
          <button type="button" disabled={!links.next} onClick={() => links.next && follow(links.next)}>
            Next
          </button>
          {links.count !== undefined && <span class="note">{links.count} in all</span>}
        </div>
      )}
    </>
  )
}
