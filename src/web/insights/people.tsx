import { useState } from 'preact/hooks'
import type { Query } from '../lib/api.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Dialog, Empty, ErrorBox, Working } from '../ui/parts.tsx'

const pageSize = 50

interface Actor {
  readonly id: string
  readonly name: string
  /** The page of the person or the group, below the project's. */
  readonly path: string
}

const nameOf = (properties: Readonly<Record<string, unknown>>, ids: readonly unknown[], id: string): string =>
  String(properties.email ?? properties.name ?? properties.username ?? ids[0] ?? id)

function actorOf(value: unknown): Actor {
  if (typeof value === 'string') return { id: value, name: value, path: `people/${value}` }
  const { id, properties, distinct_ids, type, group_type_index } = value as {
    id: string
    properties?: unknown
    distinct_ids?: readonly unknown[]
    type?: string
    group_type_index?: number
  }
  const known = typeof properties === 'string' ? JSON.parse(properties) : (properties ?? {})
  const path = type === 'group' ? `people/groups/${group_type_index}/${encodeURIComponent(id)}` : `people/${id}`
  return { id, name: nameOf(known, distinct_ids ?? [], id), path }
}

/** The people behind a number of an insight: `source` is the question that lists them. */
export function People({ title, source, onClose }: { title: string; source: Query; onClose: () => void }) {
  const project = useProject()
  const [offset, setOffset] = useState(0)
  const { value, error, isLoading, cancel, reload } = useLoaded(
    (signal) => project.ask({ kind: 'ActorsQuery', source, select: ['actor'], limit: pageSize, offset }, signal),
    [JSON.stringify(source), offset],
  )
  const rows = (value?.results ?? []) as readonly (readonly unknown[])[]
  return (
    <Dialog title={title} onClose={onClose}>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && <Working what="Looking for the people" cancel={cancel} />}
      {!error && value && rows.length === 0 && <Empty title="Nobody" />}
      <ul class="people">
        {rows.map(([actor]) => {
          const { id, name, path } = actorOf(actor)
          return (
            <li key={id}>
              <a href={linkTo(project.link(path))}>{name}</a>
            </li>
          )
        })}
      </ul>
      {(offset > 0 || value?.hasMore === true) && (
        <div class="actions">
          <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - pageSize))}>
            Before
          </button>
          <span class="note">
            {offset + 1} to {offset + rows.length}
          </span>
          <button type="button" disabled={value?.hasMore !== true} onClick={() => setOffset(offset + pageSize)}>
            Next
          </button>
        </div>
      )}
    </Dialog>
  )
}
