import { useState } from 'preact/hooks'
import type { ActionAnswer } from '../../doors/answers/actions.ts'
import { EventNameField } from '../insights/event-field.tsx'
import { Filters } from '../insights/filters.tsx'
import { type Filter, withField } from '../insights/query.ts'
import { patch, post } from '../lib/api.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { Ago } from '../ui/ago.tsx'
import { At } from '../ui/field-errors.tsx'
import { DialogButton, Form, TextField as NamedField, RemoveButton, textOf } from '../ui/forms.tsx'
import { ListTable, Search, useList } from '../ui/list-table.tsx'
import { DraftField, Empty, Select } from '../ui/parts.tsx'
import { EventName } from './event-name.tsx'

interface Step {
  readonly event?: string | null
  readonly properties?: readonly Filter[] | null
  readonly [field: string]: unknown
}

const stepsOf = ({ steps }: ActionAnswer) => steps as readonly Step[]

/** Conditions of a click, or of the page. */
const elementFields = [
  { field: 'text', label: 'Text of the element', hasMatching: true },
  { field: 'href', label: 'Address of the link', hasMatching: true },
  { field: 'selector', label: 'CSS selector', hasMatching: false },
  { field: 'tag_name', label: 'Tag', hasMatching: false },
  { field: 'url', label: 'Address of the page', hasMatching: true },
] as const
const matchings = [
  { value: 'exact', label: 'is' },
  { value: 'contains', label: 'contains' },
  { value: 'regex', label: 'matches' },
]

function StepText({ of: step }: { of: Step }) {
  const details = [
    ...elementFields.flatMap(({ field }) => (step[field] ? [`${field} ${step[`${field}_matching`] ?? ''} ${String(step[field])}`] : [])),
    ...((step.properties?.length ?? 0) > 0 ? [`${step.properties!.length} filters`] : []),
  ]
  return (
    <div>
      {step.event ? <EventName of={step.event} /> : 'Any event'}
      {details.length > 0 && ` (${details.join(', ')})`}
    </div>
  )
}

/** Names for events: those that match one of the steps. */
export function Actions({ place }: { place: Place }) {
  const { api, link, mayChange } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const list = useList<ActionAnswer>(api(`actions/?${parameters({ search, limit: 50 })}`))
  /** With the id that insights know. */
  const restore = async ({ id, name, description, steps, tags, pinned_at }: ActionAnswer) => {
    await post<ActionAnswer>(api('actions/'), { id, name, description, steps, tags, pinned_at })
    list.reload()
  }
  const form = (action: ActionAnswer | null) => (close: () => void) => (
    <ActionForm
      action={action}
      onSaved={() => {
        close()
        list.reload()
      }}
    />
  )
  return (
    <>
      <div class="filters">
        <Search label="Search actions" placeholder="Name or description" value={search} onChange={(text) => set({ search: text })} />
        {mayChange && (
          <DialogButton label="New action" isPrimary>
            {form(null)}
          </DialogButton>
        )}
      </div>
      <ListTable
        list={list}
        what="actions"
        head={[{ title: 'Action', by: ({ name }) => name }, 'Any of', { title: 'Changed', by: ({ updated_at }) => updated_at }, null]}
        empty={
          search !== '' ? (
            <Empty title="No action like this">
              <p>Search for something shorter.</p>
            </Empty>
          ) : (
            <Empty title="No action yet">
              <p>
                An action is one name for several events, or for clicks on an element. Insights count it like an event, and it is a goal of
                the <a href={linkTo(link('web'))}>web page</a>.
              </p>
            </Empty>
          )
        }
        row={(one) => (
          <tr key={one.id}>
            <td class="wrap">
              {one.name}
              {one.description !== '' && <div class="note">{one.description}</div>}
            </td>
            <td class="wrap">
              {stepsOf(one).map((step, i) => (
                <StepText key={i} of={step} />
              ))}
            </td>
            <td class="when">
              <Ago of={one.updated_at} />
            </td>
            <td class="tools">
              {mayChange && (
                <>
                  <DialogButton label="Edit" of={one.name} look="cell" title="Edit the action">
                    {form(one)}
                  </DialogButton>
                  <RemoveButton
                    label="Delete"
                    of={one.name}
                    look="cell"
                    text={`${one.name} is deleted. Insights that use it are refused.`}
                    remove={() => patch(api(`actions/${one.id}/`), { deleted: true }).then(list.reload)}
                    undo={() => restore(one)}
                  />
                </>
              )}
            </td>
          </tr>
        )}
      />
    </>
  )
}

function ActionForm({ action, onSaved }: { action: ActionAnswer | null; onSaved: () => void }) {
  const { api } = useProject()
  const [steps, setSteps] = useState(action ? stepsOf(action) : [{ event: '' }])
  const send = async (form: HTMLFormElement) => {
    const body = {
      name: textOf(form, 'name'),
      description: textOf(form, 'description'),
      steps: steps.map((step) => ({ ...step, event: step.event || null })),
    }
    await (action === null ? post(api('actions/'), body) : patch(api(`actions/${action.id}/`), body))
    onSaved()
  }
  return (
    <Form submit="Save" send={send}>
      <NamedField name="name" label="Name" value={action?.name} required autofocus maxLength={400} />
      <NamedField name="description" label="Description" value={action?.description} />
      {steps.map((step, at) => (
        <At of={at === 0 ? ['steps', 'steps.0'] : `steps.${at}`} key={at}>
          <StepFields
            path={`steps.${at}`}
            step={step}
            title={at === 0 ? 'Events like this' : 'Or like this'}
            onChange={(changed) => setSteps(steps.map((one, i) => (i === at ? changed : one)))}
            {...(steps.length > 1 && { onRemove: () => setSteps(steps.filter((_, i) => i !== at)) })}
          />
        </At>
      ))}
      <div>
        <button type="button" class="plain add" onClick={() => setSteps([...steps, { event: '' }])}>
          + Or another event
        </button>
      </div>
    </Form>
  )
}

function StepFields({
  path,
  step,
  title,
  onChange,
  onRemove,
}: {
  /** What errors call it. */
  path: string
  step: Step
  title: string
  onChange: (step: Step) => void
  onRemove?: () => void
}) {
  const isClick = step.event === '$autocapture' || elementFields.some(({ field }) => step[field])
  const set = (field: string, value: string) => onChange(withField(step, field, value === '' ? undefined : value))
  return (
    <fieldset>
      <legend>{title}</legend>
      <div class="condition">
        <EventNameField label="Event" all="Any event" value={step.event ?? ''} onChange={(event) => onChange({ ...step, event })} />
        {onRemove && (
          <button type="button" class="plain" aria-label="Remove this one" onClick={onRemove}>
            ✕
          </button>
        )}
      </div>
      <Filters
        label="Only where"
        paths={[`${path}.properties`]}
        filters={step.properties ?? []}
        onChange={(filters) => onChange(withField(step, 'properties', filters.length > 0 ? filters : undefined))}
      />
      <details open={isClick}>
        <summary>Element and page</summary>
        {elementFields.map(({ field, label, hasMatching }) => (
          <div class="condition" key={field}>
            <span class="element-label">{label}</span>
            {hasMatching && (
              <Select
                label={`How the ${field} matches`}
                value={typeof step[`${field}_matching`] === 'string' ? String(step[`${field}_matching`]) : 'exact'}
                options={matchings}
                onChange={(matching) => onChange({ ...step, [`${field}_matching`]: matching })}
              />
            )}
            <DraftField label={label} value={String(step[field] ?? '')} onChange={(text) => set(field, text.trim())} />
          </div>
        ))}
      </details>
    </fieldset>
  )
}
