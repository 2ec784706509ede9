import { durationText } from '../../service/pictures/format.ts'
import { capital, numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { AnswerOf } from '../ui/answer-of.tsx'
import { type SiteChoices, siteQuery } from './site-query.ts'

interface Item {
  readonly key: string
  readonly kind: 'unit' | 'duration_s' | 'percentage'
  readonly value: number | null
  readonly previous: number | null
  readonly changeFromPreviousPct: number | null
  readonly isIncreaseBad: boolean | null
}

const titles: Readonly<Record<string, string>> = { views: 'Page views' }

const itemText = (kind: Item['kind'], value: number | null): string =>
  value === null ? '–' : kind === 'duration_s' ? durationText(value) : kind === 'percentage' ? `${numberText(value)}%` : numberText(value)

/** How much more or less than before, in percent; good or bad by color and by its sign. */
export function Change({
  value,
  previous,
  isIncreaseBad = false,
}: {
  value: number | null
  previous: number | null
  isIncreaseBad?: boolean
}) {
  if (value === null || previous === null || previous === 0) return null
  const percent = Math.round((100 * (value - previous)) / previous)
  const isGood = percent === 0 ? null : percent > 0 !== isIncreaseBad
  return (
    <span class={`change${isGood === null ? '' : isGood ? ' good' : ' bad'}`} title={`Before: ${numberText(previous)}`}>
      {percent > 0 ? '+' : percent < 0 ? '−' : '±'}
      {numberText(Math.abs(percent))}%
    </span>
  )
}

export function Overview({ choices }: { choices: SiteChoices }) {
  const project = useProject()
  const query = siteQuery('WebOverviewQuery', choices)
  const loaded = useLoaded((signal) => project.ask(query, signal), [JSON.stringify(query)])
  return (
    <AnswerOf loaded={loaded} class="overview-room">
      {({ results }) => <Numbers items={results as readonly Item[]} />}
    </AnswerOf>
  )
}

function Numbers({ items }: { items: readonly Item[] }) {
  return (
    <dl class="overview">
      {items.map(({ key, kind, value: now, previous, isIncreaseBad }) => (
        <div key={key}>
          <dt>{titles[key] ?? capital(key)}</dt>
          <dd>
            <strong>{itemText(kind, now)}</strong>
            <Change value={now} previous={previous} isIncreaseBad={isIncreaseBad === true} />
            {previous !== null && <span class="note">was {itemText(kind, previous)}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
