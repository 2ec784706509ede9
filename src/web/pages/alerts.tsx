import { useState } from 'preact/hooks'
import type { AlertAnswer, SubscriptionAnswer } from '../../doors/answers/notifications.ts'
import { AlertCard, SubscriptionCard } from '../alerts/cards.tsx'
import { NewAlertDialog } from '../alerts/dialog.tsx'
import { HelpLink } from '../docs/help-link.tsx'
import type { PageProps } from '../lib/page.ts'
import { linkTo } from '../lib/router.ts'
import { alertSections } from '../lib/sections.ts'
import { useProject } from '../lib/session.ts'
import { ListState, useList } from '../ui/list-table.tsx'
import { Empty, PageHead } from '../ui/parts.tsx'
import { Tabs } from '../ui/tabs.tsx'

/** `all`, `subscriptions`: everything that the project sends by itself. */
export function Alerts({ rest }: PageProps) {
  const { link, mayChange } = useProject()
  const [tab = 'all'] = rest
  const [isOpen, setOpen] = useState(false)
  const [round, setRound] = useState(0)
  return (
    <>
      <PageHead title="Alerts">
        <HelpLink doc="sharing" />
        {tab === 'all' && mayChange && (
          <button type="button" class="primary" onClick={() => setOpen(true)}>
            New alert
          </button>
        )}
      </PageHead>
      {isOpen && (
        <NewAlertDialog
          onClose={() => {
            setOpen(false)
            setRound((before) => before + 1)
          }}
        />
      )}
      <Tabs
        label="Kinds of notices"
        current={tab}
        tabs={alertSections.map((one) => ({ ...one, link: linkTo(link(`alerts/${one.name}`)) }))}
      />
      {tab === 'all' ? <AlertList key={round} /> : tab === 'subscriptions' ? <SubscriptionList /> : <Empty title="There is no such list" />}
    </>
  )
}

function AlertList() {
  const { api, link } = useProject()
  const list = useList<AlertAnswer>(api('alerts/?limit=50'))
  const empty = (
    <Empty title="No alert yet">
      <p>
        An alert tells you when a number of an insight crosses a threshold. Choose “New alert” here, or “Alerts” at{' '}
        <a href={linkTo(link('insights'))}>a saved insight</a>.
      </p>
    </Empty>
  )
  return (
    <ListState list={list} what="alerts" empty={empty}>
      {(rows) => (
        <ul class="cards" aria-label="Alerts">
          {rows.map((alert) => (
            <AlertCard key={alert.id} alert={alert} hasLink onChanged={list.reload} />
          ))}
        </ul>
      )}
    </ListState>
  )
}

function SubscriptionList() {
  const { api, link } = useProject()
  const list = useList<SubscriptionAnswer>(api('subscriptions/?limit=50'))
  const empty = (
    <Empty title="No subscription yet">
      <p>
        A subscription sends an insight or a dashboard by mail or webhook. Open <a href={linkTo(link('insights'))}>a saved insight</a> and
        choose “Alerts”, or “Subscribe” in the menu of <a href={linkTo(link('dashboards'))}>a dashboard</a>.
      </p>
    </Empty>
  )
  return (
    <ListState list={list} what="subscriptions" empty={empty}>
      {(rows) => (
        <ul class="cards" aria-label="Subscriptions">
          {rows.map((one) => (
            <SubscriptionCard key={one.id} subscription={one} hasLink onChanged={list.reload} />
          ))}
        </ul>
      )}
    </ListState>
  )
}
