import { useState } from 'preact/hooks'
import type { ConsentAnswer, LeadsToAnswer } from '../../doors/answers/personal-keys.ts'
import { get, post } from '../lib/api.ts'
import type { SignedIn } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { CheckField, Form, isChecked, useAction } from '../ui/forms.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { Segments } from '../ui/segments.tsx'
import { Card } from './sign-in.tsx'

const fields = ['client_id', 'redirect_uri', 'response_type', 'code_challenge', 'code_challenge_method', 'scope', 'state', 'resource']
const levels = [
  { value: 'read', label: 'Read' },
  { value: 'write', label: 'Read and save' },
]

/** `#/consent?…`, where an application leads its user that wants to use the data here. The user is signed in. */
export function Consent({ search, known }: { search: URLSearchParams; known: SignedIn }) {
  const { value: asked, error, reload } = useLoaded((signal) => get<ConsentAnswer>(`api/consents/?${search}`, signal), [String(search)])
  const [granted, setGranted] = useState('read')
  const { act, isBusy, failure } = useAction()
  const request = Object.fromEntries(fields.flatMap((name) => (search.has(name) ? [[name, search.get(name)]] : [])))
  const leave = ({ leads_to }: LeadsToAnswer) => location.assign(leads_to)
  const grant = async (form: HTMLFormElement) => {
    const projects = known.projects.filter(({ id }) => isChecked(form, `project-${id}`)).map(({ id }) => id)
    leave(await post<LeadsToAnswer>('api/consents/', { ...request, granted, projects }))
  }
  const refuse = async () => leave(await post<LeadsToAnswer>('api/consents/refuse/', request))
  if (error)
    return (
      <Card title="Connect an application">
        <ErrorBox error={error} retry={reload} />
      </Card>
    )
  if (!asked) return <Working />
  return (
    <Card title={`Connect ${asked.client_name}`}>
      <p>
        An application that calls itself <b>{asked.client_name}</b> wants to use the data here as {known.user.email}. Its answer goes to{' '}
        <b>{asked.answered_at}</b>. Continue only if you have just asked for this there.
      </p>
      <Form submit="Allow" send={grant}>
        <fieldset>
          <legend>What it may do</legend>
          {asked.scope === 'write' && <Segments label="What it may do" value={granted} options={levels} onChange={setGranted} />}
          <p class="note">
            {granted === 'write'
              ? 'It asks questions, reads what is saved, and saves insights, dashboards, annotations and cohorts.'
              : 'It asks questions and reads what is saved. It changes nothing.'}
          </p>
        </fieldset>
        {known.projects.length > 1 && (
          <fieldset>
            <legend>Only in these projects (none chosen: in all)</legend>
            {known.projects.map(({ id, name }) => (
              <CheckField key={id} name={`project-${id}`} label={name} />
            ))}
          </fieldset>
        )}
        <p class="note">It gets a personal key, which you find under Settings, API keys, and can delete there at any time.</p>
      </Form>
      {failure}
      <p>
        <button type="button" class="plain" disabled={isBusy} onClick={() => act(refuse)}>
          Do not allow
        </button>
      </p>
    </Card>
  )
}
