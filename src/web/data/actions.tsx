import { useState } from 'preact/hooks'
import { Filters } from '../insights/filters.tsx'
import { type Filter, withField } from '../insights/query.ts'
import { get, type Page, patch, post, remove } from '../lib/api.ts'
import { agoText } from '../lib/format.ts'
import { useEventNames } from '../lib/names.ts'
import { linkTo, type Place } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { parameters, useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Confirm, Pager, Scroll } from '../ui/lists.tsx'
import { Dialog, Empty, ErrorBox, Field, Select, Suggesting, TextField, Working } from '../ui/parts.tsx'

const pageSize = 50

interface Step {
  readonly event?: string | null
  readonly properties?: readonly Filter[] | null
  readonly [field: string]: unknown
}
interface ActionDefinition {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly steps: readonly Step[]
  readonly updated_at: string
}

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

const stepText = (step: Step): string => {
  const details = [
    ...elementFields.flatMap(({ field }) => (step[field] ? [`${field} ${step[`${field}_matching`] ?? ''} ${String(step[field])}`] : [])),
    ...((step.properties?.length ?? 0) > 0 ? [`${step.properties!.length} filters`] : []),
  ]
  return `${step.event || 'Any event'}${details.length > 0 ? ` (${details.join(', ')})` : ''}`
}

/** Names for events: those that match one of the steps. */
export function Actions({ place }: { place: Place }) {
  const { api, link } = useProject()
  const { number, set } = useAddress(place)
  const offset = number('offset')
  const [edited, setEdited] = useState<ActionDefinition | 'new' | null>(null)
  const [removed, setRemoved] = useState<ActionDefinition | null>(null)
  const { value, error, isLoading, reload, cancel } = useLoaded(
    (signal) => get<Page<ActionDefinition>>(api(`actions/?${parameters({ limit: pageSize, offset })}`), signal),
    [offset],
  )
  return (
    <>
      <div class="filters">
        <button type="button" class="primary" onClick={() => setEdited('new')}>
          New action
        </button>
      </div>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && !value && <Working what="Reading actions" cancel={cancel} />}
      {!error && value && value.results.length === 0 && (
        <Empty title="No action yet">
          <p>
            An action is one name for several events, or for clicks on an element. Insights count it like an event, and it is a goal of the{' '}
            <a href={linkTo(link('web'))}>web page</a>.
          </p>
        </Empty>
      )}
      {!error && value && value.results.length > 0 && (
        <>
          <Scroll label="Actions">
            <table class="rows" aria-busy={isLoading}>
              <thead>
                <tr>
                  <th>Action</th>
                  <th>Any of</th>
                  <th>Changed</th>
                  <th>
                    <span class="hidden">Changes</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {value.results.map((one) => (
                  <tr key={one.id}>
                    <td class="wrap">
                      {one.name}
                      {one.description !== '' && <div class="note">{one.description}</div>}
                    </td>
                    <td class="wrap">
                      {one.steps.map((step, i) => (
                        <div key={i}>{stepText(step)}</div>
                      ))}
                    </td>
                    <td>{agoText(one.updated_at)}</td>
                    <td class="number">
                      <button type="button" class="plain cell" aria-label={`Edit ${one.name}`} onClick={() => setEdited(one)}>
                        Edit
                      </button>{' '}
                      <button type="button" class="plain cell" aria-label={`Delete ${one.name}`} onClick={() => setRemoved(one)}>
                        Delete
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <Pager
            offset={offset}
            size={pageSize}
            shown={value.results.length}
            count={value.count}
            onChange={(next) => set({ offset: next })}
          />
        </>
      )}
      {edited && (
        <ActionDialog
          action={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null)
            reload()
          }}
        />
      )}
      {removed && (
        <Confirm
          title="Delete the action"
          action="Delete"
          onClose={() => setRemoved(null)}
          onConfirm={() => remove(api(`actions/${removed.id}/`)).then(reload)}
        >
          <p class="wrap">
            <strong>{removed.name}</strong> is deleted. Events stay. A series of it has no values afterwards.
          </p>
        </Confirm>
      )}
    </>
  )
}

function ActionDialog({ action, onClose, onSaved }: { action: ActionDefinition | null; onClose: () => void; onSaved: () => void }) {
  const { api } = useProject()
  const [name, setName] = useState(action?.name ?? '')
  const [description, setDescription] = useState(action?.description ?? '')
  const [steps, setSteps] = useState<readonly Step[]>(action?.steps ?? [{ event: '' }])
  const { error, isBusy, run } = useAction()
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const body = { name, description, steps: steps.map((step) => ({ ...step, event: step.event || null })) }
    const isSaved = await run(() => (action === null ? post(api('actions/'), body) : patch(api(`actions/${action.id}/`), body)))
    if (isSaved) onSaved()
  }
  return (
    <Dialog title={action === null ? 'New action' : 'Edit the action'} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Name">
          {(id) => (
            <input id={id} required autofocus maxLength={400} value={name} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <Field label="Description">
          {(id) => <input id={id} value={description} onInput={(event) => setDescription(event.currentTarget.value)} />}
        </Field>
        {steps.map((step, at) => (
          <StepFields
            key={at}
            step={step}
            title={at === 0 ? 'Events like this' : 'Or like this'}
            onChange={(changed) => setSteps(steps.map((one, i) => (i === at ? changed : one)))}
            {...(steps.length > 1 && { onRemove: () => setSteps(steps.filter((_, i) => i !== at)) })}
          />
        ))}
        <div>
          <button type="button" class="plain add" onClick={() => setSteps([...steps, { event: '' }])}>
            + Or another event
          </button>
        </div>
        {error && <ErrorBox error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>
      </form>
    </Dialog>
  )
}

function StepFields({
  step,
  title,
  onChange,
  onRemove,
}: {
  step: Step
  title: string
  onChange: (step: Step) => void
  onRemove?: () => void
}) {
  const names = useEventNames()
  const isClick = step.event === '$autocapture' || elementFields.some(({ field }) => step[field])
  const set = (field: string, value: string) => onChange(withField(step, field, value === '' ? undefined : value))
  return (
    <fieldset>
      <legend>{title}</legend>
      <div class="condition">
        <Suggesting
          label="Event"
          placeholder="Any event"
          value={step.event ?? ''}
          suggestions={names}
          onChange={(event) => onChange({ ...step, event: event.trim() })}
        />
        {onRemove && (
          <button type="button" class="plain" aria-label="Remove this one" onClick={onRemove}>
            ✕
          </button>
        )}
      </div>
      <Filters
        label="Only where"
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
            <TextField label={label} value={String(step[field] ?? '')} onChange={(text) => set(field, text.trim())} />
          </div>
        ))}
      </details>
    </fieldset>
  )
}
