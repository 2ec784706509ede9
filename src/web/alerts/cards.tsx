import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { AlertAnswer, SubscriptionAnswer } from '../../doors/answers/notifications.ts'
import { patch, post, remove } from '../lib/api.ts'
import { capital, momentText } from '../lib/format.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { ConfirmButton, DialogButton, RemoveButton, useAction } from '../ui/forms.tsx'
import { EditAlert } from './alert-form.tsx'
import { Deliveries, useTest } from './deliveries.tsx'
import {
  alertName,
  boundsText,
  checkIntervals,
  comparedText,
  isBeingChecked,
  isWrong,
  lastDeliveryText,
  sendingOf,
  stateOf,
} from './notified.ts'

/** `hasLink`: where it is not seen which insight or dashboard it is about. */
interface CardProps {
  readonly hasLink?: boolean
  readonly onChanged: () => void
}

interface SharedProps {
  readonly name: string
  readonly state: ReturnType<typeof stateOf>
  /** Beside the state. */
  readonly bounds?: string
  /** Of its record, below the project. */
  readonly path: string
  readonly latest: AlertAnswer['last_delivery']
  readonly failure: ComponentChildren
  /** What it is about. */
  readonly children: ComponentChildren
  readonly actions: ComponentChildren
  readonly onTested: () => void
}

/** What alerts and subscriptions have in common: the state, what became of the newest notice, the deliveries, and a test. */
function Card({ name, state, bounds, path, latest, failure, children, actions, onTested }: SharedProps) {
  const { timezone, mayChange } = useProject()
  const [version, setVersion] = useState(0)
  const test = useTest(path, () => {
    setVersion((before) => before + 1)
    onTested()
  })
  return (
    <li>
      <div>
        <h3>{name}</h3>
        <p>
          <span class={`state ${state.tone}`}>{state.text}</span> {bounds}
        </p>
        {children}
        <p class={`wrap ${isWrong(latest) ? 'field-error' : 'note'}`}>{lastDeliveryText(latest, timezone)}</p>
        {test.outcome}
        {failure}
        <Deliveries of={path} version={version} />
      </div>
      <div class="row">
        {mayChange && (
          <>
            <button type="button" disabled={test.isBusy} aria-label={`Send a test of ${name}`} onClick={test.test}>
              Send a test
            </button>
            {actions}
          </>
        )}
      </div>
    </li>
  )
}

/** What creates an alert like this one. */
const fieldsOf = (alert: AlertAnswer) => {
  const { name, insight, subscribed_users, condition, threshold, config, enabled, calculation_interval, skip_weekend } = alert
  return {
    ...{ name, insight: insight?.id, condition, threshold, config, enabled, calculation_interval, skip_weekend },
    subscribed_users: subscribed_users.map(({ id }) => id),
  }
}

export function AlertCard({ alert, hasLink = false, onChanged }: CardProps & { alert: AlertAnswer }) {
  const { api, link, timezone } = useProject()
  const path = `alerts/${alert.id}/`
  const { act, isBusy, failure } = useAction()
  const change = (fields: object) => act(() => patch(api(path), fields).then(onChanged))
  const name = alertName(alert)
  const state = stateOf(alert)
  const { insight } = alert
  const actions = (
    <>
      {insight && (
        <DialogButton label="Edit" of={name} title={`Edit ${name}`}>
          {(close) => (
            <EditAlert
              alert={alert}
              onSaved={() => {
                close()
                onChanged()
              }}
            />
          )}
        </DialogButton>
      )}
      <button
        type="button"
        disabled={isBusy}
        aria-label={`${alert.enabled ? 'Switch off' : 'Switch on'} ${name}`}
        onClick={() => change({ enabled: !alert.enabled })}
      >
        {alert.enabled ? 'Switch off' : 'Switch on'}
      </button>
      <button
        type="button"
        disabled={isBusy}
        aria-label={`${alert.snoozed_until ? 'Wake' : 'Snooze for a day'}: ${name}`}
        onClick={() => change({ snoozed_until: alert.snoozed_until ? null : '1d' })}
      >
        {alert.snoozed_until ? 'Wake' : 'Snooze for a day'}
      </button>
      {alert.webhook_url !== null ? (
        <ConfirmButton
          label="Remove"
          of={name}
          title="Remove the alert"
          submit="Remove it"
          action={() => remove(api(path)).then(onChanged)}
        >
          <p class="wrap">
            <strong>{name}</strong> is removed with its checks and deliveries. It cannot be brought back: another alert signs its webhook
            with another secret.
          </p>
        </ConfirmButton>
      ) : (
        <RemoveButton
          label="Remove"
          of={name}
          text={`${name} is removed with its checks and deliveries.`}
          remove={() => remove(api(path)).then(onChanged)}
          undo={() => post<AlertAnswer>(api('alerts/'), fieldsOf(alert)).then(onChanged)}
        />
      )}
    </>
  )
  return (
    <Card
      name={name}
      state={state}
      bounds={boundsText(alert)}
      path={path}
      latest={alert.last_delivery}
      failure={failure}
      actions={actions}
      onTested={onChanged}
    >
      {hasLink && (
        <p class="note wrap">
          {insight ? (
            <a href={linkTo(link(`insights/${insight.short_id}`))}>{insight.name || insight.derived_name || `Insight ${insight.id}`}</a>
          ) : (
            'Its insight was deleted.'
          )}
        </p>
      )}
      <p class="note">
        {checkIntervals.find(({ value }) => value === alert.calculation_interval)?.label}.{' '}
        {alert.last_checked_at
          ? `Last check: ${momentText(alert.last_checked_at, timezone)}, value ${alert.last_value === null ? 'none' : comparedText(alert.last_value, alert)}.`
          : isBeingChecked(alert)
            ? 'Checking…'
            : 'Not checked yet.'}
        {alert.snoozed_until && ` Snoozed until ${momentText(alert.snoozed_until, timezone)}.`}
      </p>
      {alert.last_error && <p class="field-error wrap">{alert.last_error}</p>}
    </Card>
  )
}

export function SubscriptionCard({ subscription: one, hasLink = false, onChanged }: CardProps & { subscription: SubscriptionAnswer }) {
  const { api, link, timezone } = useProject()
  const path = `subscriptions/${one.id}/`
  const { act, isBusy, failure } = useAction()
  const name = one.title || capital(one.summary)
  const state = sendingOf(one)
  const actions = (
    <>
      <button
        type="button"
        disabled={isBusy}
        aria-label={`${one.enabled ? 'Pause' : 'Resume'} ${name}`}
        onClick={() => act(() => patch(api(path), { enabled: !one.enabled }).then(onChanged))}
      >
        {one.enabled ? 'Pause' : 'Resume'}
      </button>
      <RemoveButton
        label="End"
        of={name}
        text={`${name} has ended: ${one.target_value} gets nothing any more.`}
        remove={() => patch(api(path), { deleted: true }).then(onChanged)}
        undo={() => patch(api(path), { deleted: false }).then(onChanged)}
      />
    </>
  )
  return (
    <Card name={name} state={state} path={path} latest={one.last_delivery} failure={failure} actions={actions} onTested={onChanged}>
      {hasLink && (
        <p class="note wrap">
          {one.resource_name === null ? (
            'What it shows was deleted.'
          ) : (
            <>
              {one.dashboard === null ? 'Of the insight' : 'Of the dashboard'}{' '}
              <a href={linkTo(link(one.dashboard === null ? `insights/${one.insight_short_id}` : `dashboards/${one.dashboard}`))}>
                {one.resource_name}
              </a>
              .
            </>
          )}
        </p>
      )}
      <p class="note wrap">
        {capital(one.summary)} to {one.target_value}.
        {one.next_delivery_date ? ` Next: ${momentText(one.next_delivery_date, timezone)}.` : one.enabled ? ' It has ended.' : ''}
      </p>
    </Card>
  )
}
