import { useState } from 'preact/hooks'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { ErrorBox, Working } from '../ui/parts.tsx'

interface SchemaField {
  readonly name: string
  readonly hogql_value: string
  readonly type: string
  readonly table?: string
}
interface SchemaTable {
  readonly name: string
  readonly type: string
  readonly fields: Readonly<Record<string, SchemaField>>
}

const kindNames: Readonly<Record<string, string>> = { posthog: 'table', view: 'view', attached: 'attached table' }

/** The tables of the project with their columns. A click writes the name at the cursor. */
export function TablesPanel({ onInsert, version }: { onInsert: (text: string) => void; version: number }) {
  const project = useProject()
  const [search, setSearch] = useState('')
  const { value, error, reload } = useLoaded((signal) => project.ask({ kind: 'DatabaseSchemaQuery' }, signal), [version])
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the tables" />
  const tables = Object.values((value.tables ?? {}) as Readonly<Record<string, SchemaTable>>)
  const wanted = search.trim().toLowerCase()
  const has = (text: string) => text.toLowerCase().includes(wanted)
  const shown = tables.filter(({ name, fields }) => has(name) || Object.values(fields).some((field) => has(field.name)))
  return (
    <>
      <input
        type="search"
        aria-label="Search tables and columns"
        placeholder="Search tables and columns"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      {shown.length === 0 && <p class="note">No table or column has these words.</p>}
      <ul class="tables">
        {shown.map(({ name, type, fields }) => (
          <li key={name}>
            <details open={wanted !== '' || undefined}>
              <summary>
                {name} <small>{kindNames[type] ?? type}</small>
              </summary>
              <button type="button" class="plain link" onClick={() => onInsert(name)}>
                Write {name}
              </button>
              <ul>
                {Object.values(fields)
                  .filter((field) => wanted === '' || has(name) || has(field.name))
                  .map((field) => (
                    <li key={field.name}>
                      <button type="button" class="plain cell" onClick={() => onInsert(field.hogql_value)}>
                        {field.name}
                      </button>{' '}
                      <small>{field.table ?? field.type}</small>
                    </li>
                  ))}
              </ul>
            </details>
          </li>
        ))}
      </ul>
    </>
  )
}
