import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Group, type Groups, junctionOf, readGroups, writeGroups } from '../filters/filter-lists.ts'
import { SavedFilters } from '../filters/saved-filters.tsx'
import { Select } from '../ui/parts.tsx'
import { junctions } from './choices.ts'
import { Filters, isComplete } from './filters.tsx'

/** What errors call the filters of a group, whichever way the query is written: groups without filters are not in it. */
const pathsOf = (groups: readonly Group[], i: number): readonly string[] => {
  const filled = groups.filter(({ values }) => values.some(isComplete))
  const own = [`properties.values.${Math.max(0, filled.indexOf(groups[i]!))}.values`]
  return filled.length > 1 ? own : ['properties', 'properties.values', ...own]
}

function GroupBox({ title, children }: { title: string | null; children: ComponentChildren }) {
  if (title === null) return <div>{children}</div>
  return (
    <fieldset>
      <legend>{title}</legend>
      {children}
    </fieldset>
  )
}

/** Filters in groups: all or any of each, and all or any of the groups. */
export function FilterGroups({ properties, onChange }: { properties: unknown; onChange: (properties: unknown) => void }) {
  const known = readGroups(properties)
  // A group without filters is not in the query; how its filters will be joined is kept here.
  const [draft, setDraft] = useState<Groups | null>(null)
  if (!known) return <p class="note">These filters are nested deeper than this form. “Query” shows them and lets you change them.</p>
  const isCurrent = draft !== null && JSON.stringify(writeGroups(draft)) === JSON.stringify(writeGroups(known))
  const shown = isCurrent ? draft : known
  const groups = shown.groups.length > 0 ? shown.groups : [{ type: 'AND' as const, values: [] }]
  const set = (next: Groups) => {
    setDraft(next)
    const written = writeGroups(next)
    if (JSON.stringify(written) !== JSON.stringify(writeGroups(known))) onChange(written)
  }
  const change = (at: number, group: Group) => set({ ...shown, groups: groups.map((one, i) => (i === at ? group : one)) })
  const last = groups.at(-1)!
  return (
    <>
      {groups.length > 1 && (
        <div class="inline">
          <Select
            label="How the groups are joined"
            value={shown.type}
            options={junctions}
            onChange={(type) => set({ ...shown, type: junctionOf(type), groups })}
          />
          <span>these groups:</span>
        </div>
      )}
      {groups.map((group, i) => (
        <GroupBox title={groups.length > 1 ? `Group ${i + 1}` : null} key={i}>
          {group.values.length > 1 && (
            <div class="inline">
              <Select
                label={`How the filters${groups.length > 1 ? ` of group ${i + 1}` : ''} are joined`}
                value={group.type}
                options={junctions}
                onChange={(type) => change(i, { ...group, type: junctionOf(type) })}
              />
              <span>these:</span>
            </div>
          )}
          <Filters isFolding filters={group.values} paths={pathsOf(groups, i)} onChange={(values) => change(i, { ...group, values })} />
          {groups.length > 1 && (
            <button type="button" class="plain" onClick={() => set({ ...shown, groups: groups.filter((_, at) => at !== i) })}>
              Remove the group
            </button>
          )}
        </GroupBox>
      ))}
      {last.values.length > 0 && (
        <button type="button" class="plain add" onClick={() => set({ ...shown, groups: [...groups, { type: 'AND', values: [] }] })}>
          + Add a group
        </button>
      )}
      <SavedFilters properties={writeGroups(known) ?? []} onUse={onChange} />
    </>
  )
}
