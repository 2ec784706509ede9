import { useState } from 'preact/hooks'
import type { Query } from '../lib/api.ts'
import { At } from '../ui/field-errors.tsx'
import { DraftField } from '../ui/parts.tsx'
import { useAdded } from '../ui/use-added.ts'
import { listIn, objectIn, textIn, within } from './query.ts'

interface Formula {
  readonly formula: string
  readonly custom_name?: string | null
}

const formulasOf = (query: Query): readonly Formula[] => {
  const filter = objectIn(query, 'trendsFilter')
  const nodes = listIn<Formula>(filter, 'formulaNodes')
  if (nodes.length > 0) return nodes
  const older = listIn<string>(filter, 'formulas')
  if (older.length > 0) return older.map((formula) => ({ formula }))
  return textIn(filter, 'formula') ? [{ formula: textIn(filter, 'formula') }] : []
}

/** The numbers of the chart are those of formulas. */
export const hasFormulas = (query: Query): boolean => formulasOf(query).length > 0

/** Of one without a name there is only the text; the older forms are replaced. */
function withFormulas(query: Query, formulas: readonly Formula[]): Query {
  const written = formulas.filter(({ formula }) => formula !== '')
  const isPlain = written.length === 1 && !written[0]!.custom_name
  const set = (before: Query, name: string, value: unknown) => within(before, 'trendsFilter', name, value)
  const bare = set(set(set(query, 'formula', undefined), 'formulas', undefined), 'formulaNodes', undefined)
  if (written.length === 0) return bare
  return isPlain ? set(bare, 'formula', written[0]!.formula) : set(bare, 'formulaNodes', written)
}

/** What errors call a formula, whichever way the query is written. */
const pathsOf = (i: number): readonly string[] => [
  `trendsFilter.formulaNodes.${i}`,
  `trendsFilter.formulas.${i}`,
  ...(i === 0 ? ['trendsFilter.formula', 'trendsFilter.formulaNodes', 'trendsFilter.formulas'] : []),
]

/** Numbers computed from the series, shown instead of them. */
export function Formulas({ query, onChange }: { query: Query; onChange: (query: Query) => void }) {
  const asked = formulasOf(query)
  const [drafts, setDrafts] = useState<readonly Formula[]>(asked)
  const isCurrent = JSON.stringify(drafts.filter(({ formula }) => formula !== '')) === JSON.stringify(asked)
  const formulas = isCurrent ? drafts : asked
  const set = (next: readonly Formula[]) => {
    setDrafts(next)
    const changed = withFormulas(query, next)
    if (JSON.stringify(changed) !== JSON.stringify(query)) onChange(changed)
  }
  const added = useAdded<HTMLDivElement>(formulas.length)
  return (
    <div class="filters-list" ref={added.list}>
      {formulas.map((one, i) => (
        <div class="formula-row" key={i}>
          <span class={`mark b${i}`} aria-hidden="true">
            ƒ
          </span>
          <At of={one.formula === '' ? [] : pathsOf(formulas.slice(0, i).filter(({ formula }) => formula !== '').length)}>
            <DraftField
              label={`Formula ${i + 1}`}
              placeholder="A / B * 100"
              value={one.formula}
              onChange={(formula) => set(formulas.with(i, { ...one, formula: formula.trim() }))}
            />
          </At>
          <DraftField
            label={`Name of formula ${i + 1}`}
            placeholder="Name"
            value={one.custom_name ?? ''}
            onChange={(name) => set(formulas.with(i, { formula: one.formula, ...(name.trim() && { custom_name: name.trim() }) }))}
          />
          <button type="button" class="plain" aria-label={`Remove formula ${i + 1}`} onClick={() => set(formulas.toSpliced(i, 1))}>
            ✕
          </button>
        </div>
      ))}
      {formulas.length < 10 && (
        <button type="button" class="plain add" onClick={() => added.add(() => set([...formulas, { formula: '' }]))}>
          + Add a formula
        </button>
      )}
    </div>
  )
}
