import { useEventNames, usePropertyNames } from '../lib/names.ts'
import { Select, Suggesting } from '../ui/parts.tsx'
import { maths, takesProperty } from './choices.ts'
import { Filters } from './filters.tsx'
import { listIn, type SeriesNode, withField } from './query.ts'

interface Props {
  readonly series: readonly SeriesNode[]
  onChange(series: readonly SeriesNode[]): void
  readonly most: number
  readonly hasMath: boolean
  /** `A`, `B` for formulas; `1`, `2` for steps. */
  readonly marks: 'letters' | 'numbers'
  readonly addLabel: string
}

const markOf = (i: number, marks: Props['marks']) => (marks === 'letters' ? String.fromCharCode(65 + i) : String(i + 1))

export function Series({ series, onChange, most, hasMath, marks, addLabel }: Props) {
  const names = useEventNames()
  const properties = usePropertyNames('event')
  const change = (at: number, node: SeriesNode) => onChange(series.map((one, i) => (i === at ? node : one)))
  const setEvent = (at: number, name: string) => {
    const event = name.trim() === '' || name === 'All events' ? null : name.trim()
    change(at, { ...withField(series[at]!, 'custom_name', undefined), kind: 'EventsNode', event, name: event ?? 'All events' })
  }
  const move = (from: number, to: number) => {
    const moved = [...series]
    moved.splice(to, 0, ...moved.splice(from, 1))
    onChange(moved)
  }
  return (
    <ol class="series">
      {series.map((node, i) => (
        <li key={i}>
          <div class="series-row">
            <span class="mark" aria-hidden="true">
              {markOf(i, marks)}
            </span>
            {node.kind === 'EventsNode' ? (
              <Suggesting
                label={`Event ${markOf(i, marks)}`}
                placeholder="All events"
                value={node.event ?? ''}
                suggestions={names}
                onChange={(name) => setEvent(i, name)}
              />
            ) : (
              <span>{node.name ?? `Action ${node.id}`}</span>
            )}
            {hasMath && (
              <Select
                label={`What is counted in ${markOf(i, marks)}`}
                value={node.math ?? 'total'}
                options={maths}
                onChange={(math) =>
                  change(i, { ...withField(node, 'math_property', takesProperty(math) ? node.math_property : undefined), math })
                }
              />
            )}
            {hasMath && takesProperty(node.math) && (
              <Suggesting
                label="Property with numbers"
                placeholder="Property"
                value={node.math_property ?? ''}
                suggestions={properties}
                onChange={(math_property) => change(i, { ...node, math_property })}
              />
            )}
            {marks === 'numbers' && i > 0 && (
              <button type="button" class="plain" aria-label={`Move step ${i + 1} up`} onClick={() => move(i, i - 1)}>
                ↑
              </button>
            )}
            {series.length > 1 && (
              <button
                type="button"
                class="plain"
                aria-label={`Remove ${markOf(i, marks)}`}
                onClick={() => onChange(series.filter((_, at) => at !== i))}
              >
                ✕
              </button>
            )}
          </div>
          <Filters
            filters={listIn(node, 'properties')}
            label="Filter this one"
            onChange={(filters) => change(i, withField(node, 'properties', filters.length > 0 ? filters : undefined))}
          />
        </li>
      ))}
      {series.length < most && (
        <li>
          <button
            type="button"
            class="plain add"
            onClick={() =>
              onChange([...series, { kind: 'EventsNode', event: null, name: 'All events', ...(hasMath && { math: 'total' }) }])
            }
          >
            + {addLabel}
          </button>
        </li>
      )}
    </ol>
  )
}
