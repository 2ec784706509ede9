import { useState } from 'preact/hooks'
import type { DeliveryAnswer, TestAnswer } from '../../doors/answers/notifications.ts'
import { get, type Page, post } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useAction } from '../ui/forms.tsx'
import { Scroll } from '../ui/list-table.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { outcomes } from './notified.ts'

/** The newest deliveries of an alert or a subscription, opened on demand. `of`: its path in the API. `version`: they are read again when it changes. */
export function Deliveries({ of, version }: { of: string; version: number }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Deliveries</summary>
      {isOpen && <DeliveryTable of={of} version={version} />}
    </details>
  )
}

function DeliveryTable({ of, version }: { of: string; version: number }) {
  const { api, timezone } = useProject()
  const path = api(`${of}deliveries/`)
  const { value, error, reload } = useLoaded((signal) => get<Page<DeliveryAnswer>>(`${path}?limit=20`, signal), [path, version])
  const { act, isBusy, failure } = useAction()
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading deliveries" />
  if (value.results.length === 0) return <p class="note">Nothing was sent in the last 30 days.</p>
  return (
    <>
      {failure}
      <Scroll label="deliveries">
        <table class="rows">
          <thead>
            <tr>
              <th>Time</th>
              <th>To</th>
              <th>Outcome</th>
              <th>
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.results.map((one) => (
              <tr key={one.id}>
                <td class="when">{momentText(one.created_at, timezone)}</td>
                <td class="wrap">{one.target}</td>
                <td class="wrap">
                  <span class={`state ${one.status === 'delivered' ? 'good' : one.status === 'failed' ? 'bad' : 'warn'}`}>
                    {outcomes[one.status]}
                  </span>
                  {one.is_test && ' (test)'}
                  {one.error && <span class="field-error"> {one.error}</span>}
                  {one.next_attempt_at && one.attempts > 0 && (
                    <span class="note"> Next attempt {momentText(one.next_attempt_at, timezone)}.</span>
                  )}
                </td>
                <td>
                  {one.status === 'failed' && !one.is_test && (
                    <button
                      type="button"
                      class="plain cell"
                      disabled={isBusy}
                      aria-label={`Send again to ${one.target}`}
                      onClick={() => act(() => post(`${path}${one.id}/retry/`).then(reload))}
                    >
                      Send again
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {(value.count ?? 0) > value.results.length && <p class="note">The newest {value.results.length}.</p>}
    </>
  )
}

/** Sends a notice that is marked as a test, and says what became of it. */
export function useTest(of: string, onDone: () => void) {
  const { api } = useProject()
  const [sent, setSent] = useState<readonly DeliveryAnswer[] | null>(null)
  const { act, isBusy, failure } = useAction()
  const test = () => {
    setSent(null)
    act(async () => {
      const { deliveries } = await post<TestAnswer>(api(`${of}test-delivery/`))
      setSent(deliveries)
      onDone()
    })
  }
  return {
    test,
    isBusy,
    outcome: (
      <>
        {isBusy && <Working what="Sending a test" look="bar" />}
        {failure}
        {sent && (
          <div role="status" aria-label="Outcome of the test">
            <ul>
              {sent.map((one) => (
                <li key={one.id} class={one.status === 'delivered' ? '' : 'field-error'}>
                  Test to {one.target}: {one.status === 'delivered' ? 'delivered.' : `not delivered. ${one.error ?? ''}`}
                </li>
              ))}
            </ul>
          </div>
        )}
      </>
    ),
  }
}
