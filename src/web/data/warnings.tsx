import { useState } from 'preact/hooks'
import type { WarningAnswer } from '../../doors/answers/ingestion-warnings.ts'
import { agoText, momentText, numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { Properties } from '../people/properties.tsx'
import { ListTable, UnfoldButton, UnfoldingRow, useList } from '../ui/list-table.tsx'
import { Empty } from '../ui/parts.tsx'
import { WithCode } from './with-code.tsx'

const effects = { altered: 'stored, altered', 'in part': 'stored in part', dropped: 'not stored' } as const

/** What was altered or left out of events. */
export function Warnings() {
  const { api, timezone } = useProject()
  const [open, setOpen] = useState<string | null>(null)
  const list = useList<WarningAnswer>(api('ingestion_warnings/?limit=50'))
  return (
    <ListTable
      list={list}
      what="warnings"
      head={[
        { title: 'Warning', by: ({ type }) => type },
        'Events were',
        { title: 'Times', by: ({ count }) => count, isNumber: true },
        { title: 'Last seen', by: ({ last_seen_at }) => last_seen_at },
      ]}
      empty={
        <Empty title="No warnings">
          <p>Every event was stored as it was sent.</p>
        </Empty>
      }
      row={(one) => (
        <UnfoldingRow key={one.type} columns={4} detail={open === one.type && <Samples of={one} />}>
          <td class="wrap">
            <UnfoldButton isOpen={open === one.type} onToggle={() => setOpen(open === one.type ? null : one.type)}>
              {one.type}
            </UnfoldButton>
            <div class="note">
              <WithCode text={one.description} />
            </div>
          </td>
          <td>
            <span class={`state${one.effect === 'dropped' ? ' bad' : ''}`}>{effects[one.effect]}</span>
          </td>
          <td class="number">{numberText(one.count)}</td>
          <td class="when" title={momentText(one.last_seen_at, timezone)}>
            {agoText(one.last_seen_at)}
          </td>
        </UnfoldingRow>
      )}
    />
  )
}

function Samples({ of: { samples } }: { of: WarningAnswer }) {
  const { timezone } = useProject()
  if (samples === null) return <p class="note">Samples are shown to those who may query.</p>
  return (
    <>
      {samples.map(({ timestamp, details }, i) => (
        <section key={i}>
          <h3>{momentText(timestamp, timezone)}</h3>
          <Properties of={details} />
        </section>
      ))}
    </>
  )
}
