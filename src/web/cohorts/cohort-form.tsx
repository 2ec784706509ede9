import { useState } from 'preact/hooks'
import type { CohortAnswer } from '../../doors/answers/cohorts.ts'
import { readableProperty } from '../../service/pictures/readable.ts'
import { FileField } from '../files/file-field.tsx'
import { patch, post } from '../lib/api.ts'
import { FieldError } from '../lib/error-fields.ts'
import { useProject } from '../lib/session.ts'
import { At } from '../ui/field-errors.tsx'
import { Form, linesOf, RadioField, TextField, textOf } from '../ui/forms.tsx'
import { Field } from '../ui/parts.tsx'
import { complete, conditionsOf, emptyConditions } from './condition.ts'
import { ConditionEditor } from './condition-editor.tsx'
import { FoundBy, Matched } from './found-by.tsx'

const kinds = [
  { value: 'dynamic', label: 'Dynamic', about: 'Everybody who matches conditions, as of now.' },
  { value: 'static', label: 'Static', about: 'A list of people that changes only when somebody changes it.' },
]

const isCsv = (name: string) => /\.(csv|txt|tsv)$/i.test(name)
const mostBytes = 20 * 1024 * 1024

/** Of a new cohort, or of one that exists: its kind stays. */
export function CohortForm({ cohort, onSaved }: { cohort: CohortAnswer | null; onSaved: (cohort: CohortAnswer) => void }) {
  const { api } = useProject()
  const [isStatic, setStatic] = useState(cohort?.is_static ?? false)
  const known = cohort === null || cohort.is_static ? emptyConditions : conditionsOf(cohort.filters)
  const [conditions, setConditions] = useState(known ?? emptyConditions)
  const [text, setText] = useState(known ? null : JSON.stringify(cohort?.filters ?? {}, null, 2))
  const [csv, setCsv] = useState<File | null>(null)
  /** The property by which people are found; null: their distinct ids. */
  const [property, setProperty] = useState<string | null>(null)
  const [matched, setMatched] = useState<CohortAnswer | null>(null)
  const [name, setName] = useState(cohort?.name ?? '')

  const filtersNow = (): unknown => {
    if (text !== null) {
      try {
        return JSON.parse(text)
      } catch (cause) {
        throw new FieldError('filters', `The condition is not valid JSON: ${(cause as Error).message}`)
      }
    }
    const properties = complete(conditions)
    if (properties.values.length === 0) throw new FieldError('filters', 'Fill in at least one condition.')
    return { properties }
  }
  const members = async (form: HTMLFormElement): Promise<object> => {
    const by = property === null ? {} : { match_property: property }
    if (csv) {
      if (csv.size > mostBytes)
        throw new FieldError('csv', 'The file has more than 20 MiB. Send it in parts, or give the cohort a query over the API.')
      const column = textOf(form, 'csv_column')
      return { csv: await csv.text(), ...by, ...(column !== '' && { csv_column: column }) }
    }
    const list = linesOf(form, 'distinct_ids', /[\n,]/)
    if (list.length === 0 && cohort === null) throw new FieldError('distinct_ids', 'Give values, or choose a file.')
    return list.length === 0 ? {} : property === null ? { distinct_ids: list } : { values: list, ...by }
  }
  const save = async (form: HTMLFormElement) => {
    const body = {
      name: textOf(form, 'name'),
      description: textOf(form, 'description'),
      ...(isStatic ? await members(form) : { filters: filtersNow() }),
    }
    const saved =
      cohort === null
        ? await post<CohortAnswer>(api('cohorts/'), { ...body, is_static: isStatic })
        : await patch<CohortAnswer>(api(`cohorts/${cohort.id}/`), body)
    if (saved.matching && saved.matching.unmatched + saved.matching.several > 0) setMatched(saved)
    else onSaved(saved)
  }
  if (matched) return <Matched cohort={matched} onClose={() => onSaved(matched)} />
  return (
    <Form submit={cohort === null ? 'Create the cohort' : 'Save'} send={save}>
      <TextField name="name" label="Name" value={name} required maxLength={400} />
      <TextField name="description" label="Description" value={cohort?.description} />
      {cohort === null && (
        <RadioField
          name="kind"
          of="is_static"
          label="Kind"
          value="dynamic"
          options={kinds}
          onChange={(kind) => setStatic(kind === 'static')}
        />
      )}
      {isStatic ? (
        <>
          <FoundBy property={property} onChange={setProperty} />
          <TextField
            name="distinct_ids"
            label={`${property === null ? 'Distinct ids' : `Values of ${readableProperty(property)}`}${cohort === null ? '' : ' that replace the members'}`}
            hint="One on each line, or with commas between them."
            rows={6}
            disabled={csv !== null}
          />
          <At of="csv">
            <Field label="Or a CSV file" hint={`Its column ${property ?? 'person_id or distinct_id'} is read, else the first column.`}>
              {(id) => (
                <FileField
                  id={id}
                  accept=".csv,.txt,text/csv"
                  onFile={(file) => {
                    setCsv(file)
                    if (file && isCsv(file.name)) setName(file.name.replace(/\.\w+$/, ''))
                  }}
                />
              )}
            </Field>
          </At>
          {csv !== null && <TextField name="csv_column" label="Column of the file" hint="Empty: as above." maxLength={400} />}
        </>
      ) : text === null ? (
        <div>
          <At of="filters">
            <ConditionEditor conditions={conditions} onChange={setConditions} />
          </At>
          <button type="button" class="plain link" onClick={() => setText(JSON.stringify({ properties: complete(conditions) }, null, 2))}>
            Edit as JSON
          </button>
        </div>
      ) : (
        <TextField
          name="filters"
          label="Condition"
          hint="Every form that a condition can have is in docs/cohorts.md."
          rows={14}
          value={text}
          onInput={setText}
        />
      )}
    </Form>
  )
}
