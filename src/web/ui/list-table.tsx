import type { ComponentChild, ComponentChildren, VNode } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { get, type Page, pathOf } from '../lib/api.ts'
import { numberText } from '../lib/format.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { ErrorBox, Working } from './parts.tsx'
import { type SortValue, sortedBy } from './sorted-by.ts'
import { SortHead, useOrder } from './sorting.tsx'
import './list-table.css'

// Lists of the API: searched, a page at a time.

export interface Listed<T> {
  /** Those of the last load that ended well; null before the first. */
  readonly rows: readonly T[] | null
  readonly count: number | undefined
  readonly hasMore: boolean
  readonly error: Error | null
  /** The error is about the next page: the rows are those that were asked for. */
  readonly isErrorOfMore: boolean
  readonly isLoading: boolean
  more(): void
  /** Reads again all that is shown. */
  reload(): void
  /** Goes on where an error has stopped. */
  retry(): void
  cancel(): void
}

/** `path`: of a list, with its limit, search and filters. */
export function useList<T>(path: string): Listed<T> {
  const [asked, setAsked] = useState({ path, pages: 1 })
  const pages = asked.path === path ? asked.pages : 1
  const read = useRef<{ path: string; pages: readonly Page<T>[] }>({ path, pages: [] })
  const loaded = useLoaded(
    async (signal) => {
      if (read.current.path !== path) read.current = { path, pages: [] }
      while (read.current.pages.length < pages) {
        const last = read.current.pages.at(-1)
        if (last?.next === null) break
        const page = await get<Page<T>>(last ? pathOf(last.next) : path, signal)
        read.current = { path, pages: [...read.current.pages, page] }
      }
      return read.current.pages
    },
    [path, pages],
  )
  const reload = useCallback(() => {
    read.current = { path: '', pages: [] }
    loaded.reload()
  }, [])
  const last = loaded.value?.at(-1)
  return {
    rows: loaded.value?.flatMap(({ results }) => results) ?? null,
    count: last?.count,
    hasMore: Boolean(last?.next),
    error: loaded.error,
    isErrorOfMore: loaded.error !== null && read.current.path === path && read.current.pages.length > 0,
    isLoading: loaded.isLoading,
    more: () => setAsked({ path, pages: pages + 1 }),
    reload,
    retry: loaded.reload,
    cancel: loaded.cancel,
  }
}

/** Records that arrive meanwhile move the others onto the next page: each is shown once. */
function once(rows: readonly VNode[]): readonly VNode[] {
  const seen = new Set<unknown>()
  return rows.filter(({ key }) => key == null || (!seen.has(key) && seen.add(key)))
}

/** What is around the rows of a list: while it is read, when it is empty, when it is refused, and when there is more. */
export function ListState<T>({
  list,
  what,
  empty,
  children,
}: {
  list: Listed<T>
  /** Of many: `people`. */
  what: string
  empty: ComponentChild
  children: (rows: readonly T[]) => ComponentChildren
}) {
  const { rows, count, error, isLoading, isErrorOfMore } = list
  const end = useRef<HTMLSpanElement>(null)
  const isPressed = useRef(false)
  // The button goes with the last page: the focus stays where it was.
  useEffect(() => {
    if (isPressed.current && !list.hasMore && document.activeElement === document.body) end.current?.focus()
  }, [list.hasMore])
  if (error && !isErrorOfMore) return <ErrorBox error={error} retry={list.retry} />
  if (!rows) return isLoading ? <Working what={`Reading ${what}`} cancel={list.cancel} /> : null
  if (rows.length === 0) return typeof empty === 'string' ? <p class="note">{empty}</p> : empty
  return (
    <>
      {children(rows)}
      {error && <ErrorBox error={error} retry={list.retry} />}
      <p class="pager">
        {list.hasMore && (
          <button
            type="button"
            aria-disabled={isLoading}
            onClick={() => {
              isPressed.current = true
              if (!isLoading) list.more()
            }}
          >
            Load more
          </button>
        )}
        <span class="note" role="status" ref={end} tabIndex={-1}>
          {numberText(rows.length)} {list.hasMore ? (count === undefined ? 'shown' : `of ${numberText(count)}`) : 'in all'}
        </span>
      </p>
    </>
  )
}

/** A column by which a list sorts when all of it is there: before, an order of a part would be taken for that of the whole. */
export interface SortedHead<T> {
  readonly title: string
  readonly by: (one: T) => SortValue
  readonly isNumber?: boolean
}
type Head<T> = string | VNode | SortedHead<T> | null
const isSorted = <T,>(head: Head<T>): head is SortedHead<T> => typeof head === 'object' && head !== null && 'by' in head

/** A table of a list. */
export function ListTable<T>({
  head,
  row,
  ...state
}: {
  list: Listed<T>
  what: string
  empty: ComponentChild
  /** Titles, or cells. Null: a column of buttons. */
  head: readonly Head<T>[]
  /** With a key. */
  row: (one: T) => VNode
}) {
  const use = useOrder()
  const { hasMore, isLoading } = state.list
  const chosen = use.order && head[use.order.column]
  return (
    <ListState {...state}>
      {(rows) => (
        <Scroll label={state.what}>
          <table class="rows" aria-busy={isLoading}>
            <thead>
              <tr>
                {head.map((title, i) => {
                  if (!isSorted(title))
                    return typeof title === 'object' && title ? title : <th key={i}>{title ?? <span class="hidden">Actions</span>}</th>
                  if (!hasMore && rows.length > 1)
                    return <SortHead key={i} title={title.title} column={i} isNumber={title.isNumber === true} use={use} />
                  return (
                    <th key={i} class={title.isNumber ? 'number' : ''}>
                      {title.title}
                    </th>
                  )
                })}
              </tr>
            </thead>
            <tbody>{once((chosen && isSorted(chosen) && !hasMore ? sortedBy(rows, chosen.by, use.order!.isDown) : rows).map(row))}</tbody>
          </table>
        </Scroll>
      )}
    </ListState>
  )
}

/** A row, and what it shows below when it is open. `columns`: of the table. */
export function UnfoldingRow({ columns, detail, children }: { columns: number; detail: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <tr>{children}</tr>
      {detail && (
        <tr class="detail">
          <td colSpan={columns}>{detail}</td>
        </tr>
      )}
    </>
  )
}

/** Opens and closes what is below a row. */
export const UnfoldButton = ({
  isOpen,
  label,
  onToggle,
  children,
}: {
  isOpen: boolean
  /** For screen readers, where the text is the same in every row. */
  label?: string
  onToggle: () => void
  children: ComponentChildren
}) => (
  <button type="button" class="plain cell" aria-expanded={isOpen} aria-label={label} onClick={onToggle}>
    {children}
  </button>
)

/** A search field that asks when typing pauses or with Enter. */
export function Search({
  label,
  value,
  placeholder = 'Search',
  onChange,
  ...input
}: {
  label: string
  value: string
  placeholder?: string
  onChange: (text: string) => void
  autofocus?: boolean
}) {
  const [text, setText] = useState(value)
  const asked = useRef(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const ask = (next: string, after: number) => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      if (next.trim() === asked.current) return
      asked.current = next.trim()
      onChange(next.trim())
    }, after)
  }
  // What came from elsewhere, such as a link; not the echo of what was typed a moment ago.
  useEffect(() => {
    if (value === asked.current) return
    asked.current = value
    setText(value)
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <input
      type="search"
      class="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onInput={(event) => ask(event.currentTarget.value, 250)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        ask(event.currentTarget.value, 0)
      }}
      {...input}
    />
  )
}

/** A table that scrolls sideways where the page is narrow. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  )
}
