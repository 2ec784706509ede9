import { useState } from 'preact/hooks'
import type { CohortAnswer } from '../../doors/answers/cohorts.ts'
import { patch, post } from '../lib/api.ts'
import { FieldError } from '../lib/error-fields.ts'
import { useProject } from '../lib/session.ts'
import { At } from '../ui/field-errors.tsx'
import { Form, linesOf, RadioField, TextField, textOf } from '../ui/forms.tsx'
import { Field } from '../ui/parts.tsx'
import { complete, conditionsOf, emptyConditions } from './condition.ts'
import { ConditionEditor } from './condition-editor.tsx'

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
    if (csv) {
      if (csv.size > mostBytes)
        throw new FieldError('csv', 'The file has more than 20 MiB. Send it in parts, or give the cohort a query over the API.')
      return { csv: await csv.text() }
    }
    const list = linesOf(form, 'distinct_ids', /[\n,]/)
    if (list.length === 0 && cohort === null) throw new FieldError('distinct_ids', 'Give distinct ids, or choose a file.')
    return list.length > 0 ? { distinct_ids: list } : {}
  }
  const save = async (form: HTMLFormElement) => {
    const body = {
      name: textOf(form, 'name'),
      description: textOf(form, 'description'),
      ...(isStatic ? await members(form) : { filters: filtersNow() }),
    }
    onSaved(
      cohort === null
        ? await post<CohortAnswer>(api('cohorts/'), { ...body, is_static: isStatic })
        : await patch<CohortAnswer>(api(`cohorts/${cohort.id}/`), body),
    )
  }
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
          <TextField
            name="distinct_ids"
            label={cohort === null ? 'Distinct ids' : 'Distinct ids that replace the members'}
            hint="One on each line, or with commas between them."
            rows={6}
            disabled={csv !== null}
          />
          <At of="csv">
            <Field label="Or a CSV file" hint="Its column person_id or distinct_id is read, else the first column.">
              {(id) => (
                <input
                  id={id}
                  type="file"
                  accept=".csv,.txt,text/csv"
                  onChange={(event) => {
                    const file = event.currentTarget.files?.[0] ?? null
                    setCsv(file)
                    if (file && isCsv(file.name)) setName(file.name.replace(/\.\w+$/, ''))
                  }}
                />
              )}
            </Field>
          </At>
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
