import { useState } from 'preact/hooks'
import type { KeyAnswer } from '../../doors/answers/personal-keys.ts'
import { post } from '../lib/api.ts'
import { FieldError } from '../lib/error-fields.ts'
import { useSession } from '../lib/session.ts'
import { At } from '../ui/field-errors.tsx'
import { CheckField, Form, isChecked, TextField, textOf } from '../ui/forms.tsx'
import { type Access, type Chosen, presets, type ScopeGroup, scopeGroups, scopesOf } from './scope-groups.ts'

const access: readonly { readonly value: Access; readonly label: string }[] = [
  { value: '', label: 'None' },
  { value: 'read', label: 'Read' },
  { value: 'write', label: 'Write' },
]

export function NewKey({ onMade }: { onMade: (key: KeyAnswer) => void }) {
  const { projects } = useSession()
  /** Null: everything. */
  const [chosen, setChosen] = useState<Chosen | null>({})
  const create = async (form: HTMLFormElement) => {
    const scopes = chosen === null ? ['*'] : scopesOf(chosen)
    if (scopes.length === 0) throw new FieldError('scopes', 'Choose what the key may do.')
    const key = await post<KeyAnswer>('api/personal_api_keys/', {
      label: textOf(form, 'label'),
      scopes,
      scoped_teams: projects.filter(({ id }) => isChecked(form, `project-${id}`)).map(({ id }) => id),
    })
    form.reset()
    setChosen({})
    onMade(key)
  }
  return (
    <section class="block">
      <h2>New key</h2>
      <Form submit="Create" send={create}>
        <TextField name="label" label="What it is for" required maxLength={40} />
        <fieldset>
          <legend>What it may do</legend>
          <At of="scopes">
            <Presets chosen={chosen} onChoose={setChosen} />
          </At>
          {chosen !== null &&
            scopeGroups.map((group) => (
              <Scopes
                key={group.title}
                group={group}
                chosen={chosen}
                onChoose={(object, level) => setChosen({ ...chosen, [object]: level })}
              />
            ))}
          {chosen !== null && <p class="note">Writing includes reading. What a key may do is never more than what you may do.</p>}
        </fieldset>
        <fieldset>
          <legend>Only in these projects (none chosen: in all)</legend>
          <At of={['scoped_teams', 'scoped_organizations']}>
            {projects.map(({ id, name }) => (
              <CheckField key={id} name={`project-${id}`} label={name} />
            ))}
          </At>
        </fieldset>
      </Form>
    </section>
  )
}

const sameScopes = (one: Chosen | null, other: Chosen | null): boolean =>
  one === null || other === null ? one === other : scopesOf(one).join() === scopesOf(other).join()

function Presets({ chosen, onChoose }: { chosen: Chosen | null; onChoose: (chosen: Chosen | null) => void }) {
  return (
    <div class="presets" role="group" aria-label="Presets">
      {presets.map((one) => (
        <button
          type="button"
          key={one.name}
          title={one.about}
          aria-pressed={sameScopes(one.chosen, chosen)}
          onClick={() => onChoose(one.chosen)}
        >
          {one.name}
        </button>
      ))}
    </div>
  )
}

function Scopes({
  group: { title, objects },
  chosen,
  onChoose,
}: {
  group: ScopeGroup
  chosen: Chosen
  onChoose: (object: string, level: Access) => void
}) {
  return (
    <section class="scope-group" aria-label={title}>
      <h3>{title}</h3>
      {objects.map(([object, label]) => (
        <div class="scope-line" role="radiogroup" aria-label={label} key={object}>
          <span>{label}</span>
          {access.map((one) => (
            <label key={one.value}>
              <input
                type="radio"
                name={`scope-${object}`}
                checked={(chosen[object] ?? '') === one.value}
                onChange={() => onChoose(object, one.value)}
              />
              {one.label}
            </label>
          ))}
        </div>
      ))}
    </section>
  )
}
