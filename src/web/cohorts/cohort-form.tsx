import { useState } from 'preact/hooks'
import { patch, post } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { ErrorBox, Field } from '../ui/parts.tsx'
import { complete, conditionsOf, emptyConditions } from './condition.ts'
import { ConditionEditor } from './condition-editor.tsx'

export interface Cohort {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly is_static: boolean
  readonly filters: Readonly<Record<string, unknown>> | null
  readonly count: number
  readonly errors_calculating: number
  readonly last_calculation: string | null
  readonly created_at: string
  readonly created_by: { readonly first_name: string; readonly email: string } | null
}

const kinds = [
  { isStatic: false, title: 'Dynamic', about: 'Everybody who matches conditions, as of now.' },
  { isStatic: true, title: 'Static', about: 'A list of people that changes only when somebody changes it.' },
] as const

const isCsv = (name: string) => /\.(csv|txt|tsv)$/i.test(name)
const mostBytes = 20 * 1024 * 1024

/** Of a new cohort, or of one that exists: its kind stays. */
export function CohortForm({ cohort, onSaved }: { cohort: Cohort | null; onSaved: (cohort: Cohort) => void }) {
  const { api } = useProject()
  const [isStatic, setStatic] = useState(cohort?.is_static ?? false)
  const known = cohort === null || cohort.is_static ? emptyConditions : conditionsOf(cohort.filters)
  const [conditions, setConditions] = useState(known ?? emptyConditions)
  const [text, setText] = useState(known ? null : JSON.stringify(cohort?.filters ?? {}, null, 2))
  const [ids, setIds] = useState('')
  const [csv, setCsv] = useState<File | null>(null)
  const [name, setName] = useState(cohort?.name ?? '')
  const [description, setDescription] = useState(cohort?.description ?? '')
  const { error, isBusy, run } = useAction()

  const filtersNow = (): unknown => {
    if (text !== null) {
      try {
        return JSON.parse(text)
      } catch (cause) {
        throw new Error(`The condition is not valid JSON: ${(cause as Error).message}`)
      }
    }
    const properties = complete(conditions)
    if (properties.values.length === 0) throw new Error('Fill in at least one condition.')
    return { properties }
  }
  const members = async (): Promise<object> => {
    if (csv) {
      if (csv.size > mostBytes) throw new Error('The file has more than 20 MiB. Send it in parts, or give the cohort a query over the API.')
      return { csv: await csv.text() }
    }
    const list = ids
      .split(/[\n,]/)
      .map((one) => one.trim())
      .filter((one) => one !== '')
    if (list.length === 0 && cohort === null) throw new Error('Give distinct ids, or choose a file.')
    return list.length > 0 ? { distinct_ids: list } : {}
  }
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    await run(async () => {
      const body = { name, description, ...(isStatic ? await members() : { filters: filtersNow() }) }
      const saved =
        cohort === null
          ? await post<Cohort>(api('cohorts/'), { ...body, is_static: isStatic })
          : await patch<Cohort>(api(`cohorts/${cohort.id}/`), body)
      onSaved(saved)
    })
  }
  return (
    <form class="form" onSubmit={(event) => void save(event)}>
      <Field label="Name">
        {(id) => <input id={id} required maxLength={400} value={name} onInput={(event) => setName(event.currentTarget.value)} />}
      </Field>
      <Field label="Description">
        {(id) => <input id={id} value={description} onInput={(event) => setDescription(event.currentTarget.value)} />}
      </Field>
      {cohort === null && (
        <fieldset>
          <legend>Kind</legend>
          {kinds.map((one) => (
            <label class="choice" key={one.title}>
              <input type="radio" name="kind" checked={isStatic === one.isStatic} onChange={() => setStatic(one.isStatic)} />
              <span>
                <strong>{one.title}</strong> <span class="note">{one.about}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {isStatic ? (
        <>
          <Field
            label={cohort === null ? 'Distinct ids' : 'Distinct ids that replace the members'}
            hint="One on each line, or with commas between them."
          >
            {(id) => (
              <textarea id={id} rows={6} value={ids} disabled={csv !== null} onInput={(event) => setIds(event.currentTarget.value)} />
            )}
          </Field>
          <Field label="Or a CSV file" hint="Its column person_id or distinct_id is read, else the first column.">
            {(id) => (
              <input
                id={id}
                type="file"
                accept=".csv,.txt,text/csv"
                onChange={(event) => {
                  const file = event.currentTarget.files?.[0] ?? null
                  setCsv(file)
                  if (file && name === '' && isCsv(file.name)) setName(file.name.replace(/\.\w+$/, ''))
                }}
              />
            )}
          </Field>
        </>
      ) : (
        <div>
          {text === null ? (
            <ConditionEditor conditions={conditions} onChange={setConditions} />
          ) : (
            <Field label="Condition" hint="Every form that a condition can have is in docs/cohorts.md.">
              {(id) => (
                <textarea id={id} rows={14} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
              )}
            </Field>
          )}
          {text === null && (
            <p>
              <button
                type="button"
                class="plain link"
                onClick={() => setText(JSON.stringify({ properties: complete(conditions) }, null, 2))}
              >
                Edit as JSON
              </button>
            </p>
          )}
        </div>
      )}
      {error && <ErrorBox error={error} />}
      <div>
        <button type="submit" class="primary" disabled={isBusy}>
          {cohort === null ? 'Create the cohort' : 'Save'}
        </button>
      </div>
    </form>
  )
}
