import { useEffect, useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import type { AlertAnswer, SubscriptionAnswer } from '../../doors/answers/notifications.ts'
import { AddInsight } from '../dashboards/add-tile.tsx'
import { unwrapped } from '../insights/query.ts'
import { get, type Page, post } from '../lib/api.ts'
import { sendsMail } from '../lib/mail.ts'
import { useProject, useSession } from '../lib/session.ts'
import { parameters } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { ChoiceField, Form, TextField, TimeField, textOf, timeOf } from '../ui/forms.tsx'
import { NoMail } from '../ui/no-mail.tsx'
import { CopyButton, Dialog, ErrorBox, Working } from '../ui/parts.tsx'
import { AlertForm, type NotifiedInsight } from './alert-form.tsx'
import { type AlertNumbers, alertNumbers } from './alert-numbers.ts'
import { AlertCard, SubscriptionCard } from './cards.tsx'
import { isBeingChecked } from './notified.ts'

// What a saved insight sends by itself: alerts when a number leaves its bounds, and itself on a schedule.

/** Of a webhook, which is shown once. */
function Secret({ secret }: { secret: string | null }) {
  return (
    secret && (
      <div class="once" role="status">
        <p>Its webhooks are signed with this secret. It is shown only once.</p>
        <div class="row">
          <code>{secret}</code>
          <CopyButton text={secret} />
        </div>
      </div>
    )
  )
}

/** Of a dashboard: it has subscriptions only. */
export function SubscriptionsDialog({ of, onClose }: { of: Subscribed; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Dialog title="Subscriptions" onClose={onClose}>
      <Secret secret={secret} />
      <Subscriptions of={of} onSecret={setSecret} />
    </Dialog>
  )
}

export function NotificationsDialog({ insight, onClose }: { insight: NotifiedInsight; onClose: () => void }) {
  const numbers = alertNumbers(insight.query)
  const [tab, setTab] = useState<'alerts' | 'subscriptions'>(numbers ? 'alerts' : 'subscriptions')
  const [secret, setSecret] = useState<string | null>(null)
  const tabs = [
    ['alerts', 'Alerts'],
    ['subscriptions', 'Subscriptions'],
  ] as const
  return (
    <Dialog title="Notifications" onClose={onClose}>
      <div class="tabs" role="tablist" aria-label="Kinds of notifications">
        {tabs.map(([name, title]) => (
          <button type="button" role="tab" key={name} aria-selected={tab === name} onClick={() => setTab(name)}>
            {title}
          </button>
        ))}
      </div>
      <Secret secret={secret} />
      {tab === 'alerts' ? (
        numbers ? (
          <Alerts insight={insight} numbers={numbers} onSecret={setSecret} />
        ) : (
          <p class="note">Alerts compare a number with a threshold. The answer of this insight has none.</p>
        )
      ) : (
        <Subscriptions of={{ insight: insight.id }} onSecret={setSecret} />
      )}
    </Dialog>
  )
}

function Alerts({
  insight,
  numbers,
  onSecret,
}: {
  insight: NotifiedInsight
  numbers: AlertNumbers
  onSecret: (secret: string | null) => void
}) {
  const { api } = useProject()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<AlertAnswer>>(api(`alerts/?insight_id=${insight.id}&limit=50`), signal),
    [insight.id],
  )
  useEffect(() => {
    if (!value?.results.some(isBeingChecked)) return
    const timer = setTimeout(reload, lookAgainMs)
    return () => clearTimeout(timer)
  }, [value])
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {!value && !error && <Working what="Reading alerts" />}
      <ul class="cards">
        {value?.results.map((alert) => (
          <AlertCard key={alert.id} alert={alert} onChanged={reload} />
        ))}
      </ul>
      {value && (
        <details class="block" open={value.results.length === 0} key={value.results.length}>
          <summary>New alert</summary>
          <AlertForm
            insight={insight}
            numbers={numbers}
            onSaved={(made) => {
              onSecret(made.webhook_secret)
              reload()
            }}
          />
        </details>
      )}
    </>
  )
}

const lookAgainMs = 1500

/** A saved insight first, then its alert. */
export function NewAlertDialog({ onClose }: { onClose: () => void }) {
  const [chosen, setChosen] = useState<SavedInsightAnswer | null>(null)
  if (chosen) return <NotificationsDialog insight={{ id: chosen.id, query: unwrapped(chosen.query) }} onClose={onClose} />
  return <AddInsight title="New alert: of which insight?" known={new Set()} onAdd={setChosen} onClose={onClose} />
}

const frequencies = [
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
  { value: 'monthly', label: 'Every month' },
  { value: 'yearly', label: 'Every year' },
]

/** What is sent. */
export type Subscribed = { readonly insight: number } | { readonly dashboard: number }

function Subscriptions({ of, onSecret }: { of: Subscribed; onSecret: (secret: string | null) => void }) {
  const { api } = useProject()
  const { user } = useSession()
  const { value, error, reload } = useLoaded(
    (signal) => get<Page<SubscriptionAnswer>>(api(`subscriptions/?${parameters({ ...of, limit: 50 })}`), signal),
    [JSON.stringify(of)],
  )
  const { value: hasMail } = useLoaded(sendsMail, [])
  const [chosen, setTarget] = useState<string | null>(null)
  const target = chosen ?? (hasMail === false ? 'webhook' : 'email')
  const send = async (form: HTMLFormElement) => {
    const made = await post<SubscriptionAnswer>(api('subscriptions/'), {
      ...of,
      title: textOf(form, 'title'),
      target_type: target,
      target_value: textOf(form, 'target_value'),
      frequency: textOf(form, 'frequency'),
      start_date: timeOf(form, 'start_date'),
    })
    onSecret(made.webhook_secret)
    form.reset()
    reload()
  }
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {!value && !error && <Working what="Reading subscriptions" />}
      {value?.results.length === 0 && <p class="note">None yet.</p>}
      <ul class="cards">
        {value?.results.map((one) => (
          <SubscriptionCard key={one.id} subscription={one} onChanged={reload} />
        ))}
      </ul>
      <section class="block">
        <h3>New subscription</h3>
        <Form submit="Create the subscription" send={send}>
          <TextField name="title" label="Title" required maxLength={100} />
          <ChoiceField
            name="target_type"
            label="Send by"
            value={target}
            options={[
              { value: 'email', label: 'Mail' },
              { value: 'webhook', label: 'Webhook' },
            ]}
            onChange={setTarget}
          />
          {target === 'email' && <NoMail instead="A webhook works without one." />}
          {target === 'email' ? (
            <TextField name="target_value" label="Addresses, separated by commas" value={user.email} required key="email" />
          ) : (
            <TextField name="target_value" type="url" label="Address of the webhook" placeholder="https://" required key="webhook" />
          )}
          <ChoiceField name="frequency" label="How often" value="weekly" options={frequencies} />
          <TimeField name="start_date" label="First time" hint="Later ones are at the same time of day." required />
        </Form>
      </section>
    </>
  )
}
