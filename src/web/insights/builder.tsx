import type { Query } from '../lib/api.ts'
import { At } from '../ui/field-errors.tsx'
import { Breakdown } from './breakdown.tsx'
import { actorMaths, isSpread, maths } from './choices.ts'
import { FilterGroups } from './filter-groups.tsx'
import { Formulas, hasFormulas } from './formulas.tsx'
import { FunnelParts, LifecycleParts, PathParts, RetentionParts, StickinessParts } from './kind-parts.tsx'
import { listIn, objectIn, type SeriesNode, textIn, withField } from './query.ts'
import { Section } from './section.tsx'
import { Series } from './series.tsx'

const isTimeToConvert = (query: Query): boolean =>
  query.kind === 'FunnelsQuery' && objectIn(query, 'funnelsFilter').funnelVizType === 'time_to_convert'

interface Props {
  readonly query: Query
  onChange(query: Query): void
}

/** The question: what is counted, of which events, split by what. When and how it is drawn is in the toolbar. */
export function Builder({ query, onChange }: Props) {
  const setSeries = (series: readonly SeriesNode[]) => onChange({ ...query, series })
  const series = listIn<SeriesNode>(query, 'series')
  const ofSpread = query.kind === 'TrendsQuery' && isSpread(textIn(objectIn(query, 'trendsFilter'), 'display'))
  // One that was pasted can be taken away.
  const hasBreakdown =
    ['TrendsQuery', 'FunnelsQuery', 'RetentionQuery'].includes(query.kind) && (!ofSpread || query.breakdownFilter != null)
  return (
    <form class="builder" aria-label="Question" onSubmit={(event) => event.preventDefault()}>
      {query.kind === 'TrendsQuery' && (
        <Section title="What">
          <Series
            series={series}
            onChange={setSeries}
            most={26}
            maths={maths}
            marks="letters"
            isColored={query.breakdownFilter == null && !hasFormulas(query)}
            addLabel="Add a series"
          />
          {!ofSpread && <Formulas query={query} onChange={onChange} />}
        </Section>
      )}
      {query.kind === 'FunnelsQuery' && <FunnelParts query={query} onChange={onChange} />}
      {query.kind === 'RetentionQuery' && <RetentionParts query={query} onChange={onChange} />}
      {query.kind === 'PathsQuery' && <PathParts query={query} onChange={onChange} />}
      {query.kind === 'StickinessQuery' && (
        <Section title="What">
          <Series series={series} onChange={setSeries} most={10} maths={actorMaths} marks="letters" addLabel="Add a series" />
          <StickinessParts query={query} onChange={onChange} />
        </Section>
      )}
      {query.kind === 'LifecycleQuery' && (
        <Section title="What">
          <Series series={series} onChange={setSeries} most={1} marks="letters" addLabel="" />
          <LifecycleParts query={query} onChange={onChange} />
        </Section>
      )}
      <Section title="Who">
        <At of="properties">
          <FilterGroups properties={query.properties} onChange={(properties) => onChange(withField(query, 'properties', properties))} />
        </At>
        <label class="inline quiet">
          <input
            type="checkbox"
            checked={query.filterTestAccounts === true}
            onChange={(event) => onChange(withField(query, 'filterTestAccounts', event.currentTarget.checked || undefined))}
          />
          Filter out test accounts
        </label>
      </Section>
      {hasBreakdown && (
        <Section title="Split by">
          {isTimeToConvert(query) ? (
            <p class="note">The time to convert is that of all together. Steps and Conversion over time can be split.</p>
          ) : (
            <Breakdown query={query} onChange={onChange} />
          )}
        </Section>
      )}
    </form>
  )
}
