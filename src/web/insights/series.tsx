import { useState } from 'preact/hooks'
import type { EventChoice } from '../lib/named-choices.ts'
import type { Option } from '../lib/option.ts'
import { At } from '../ui/field-errors.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { DraftField } from '../ui/parts.tsx'
import { useAdded } from '../ui/use-added.ts'
import { EventField } from './event-field.tsx'
import { Filters } from './filters.tsx'
import { MathField } from './maths.tsx'
import { listIn, type SeriesNode, withField } from './query.ts'

interface Props {
  readonly series: readonly SeriesNode[]
  onChange(series: readonly SeriesNode[]): void
  readonly most: number
  readonly least?: number
  /** What can be counted of each; none: nothing is chosen. */
  readonly maths?: readonly Option[] | undefined
  /** `A`, `B` for formulas; `1`, `2` for steps. */
  readonly marks: 'letters' | 'numbers'
  /** Each has the color that it has in the chart. */
  readonly isColored?: boolean
  readonly addLabel: string
}

const markOf = (i: number, marks: Props['marks']) => (marks === 'letters' ? String.fromCharCode(65 + i) : String(i + 1))

const choiceOf = (node: SeriesNode): EventChoice =>
  node.kind === 'ActionsNode' ? { action: node.id ?? 0, name: node.name ?? '' } : node.event == null ? null : { event: node.event }

function withChoice(node: SeriesNode, choice: EventChoice): SeriesNode {
  const { kind: _, event: _event, id: _id, name: _name, custom_name: _custom, ...rest } = node
  if (choice !== null && 'action' in choice) return { kind: 'ActionsNode', id: choice.action, name: choice.name, ...rest }
  const event = choice?.event ?? null
  return { kind: 'EventsNode', event, name: event ?? 'All events', ...rest }
}

export function Series({ series, onChange, most, least = 1, maths, marks, isColored = false, addLabel }: Props) {
  const add = (node: SeriesNode, at = series.length) => onChange(series.toSpliced(at, 0, node))
  const added = useAdded<HTMLOListElement>(series.length)
  return (
    <At of="series">
      <ol class="series" ref={added.list}>
        {series.map((node, i) => (
          <li key={i}>
            <At of={`series.${i}`}>
              <SeriesRow
                node={node}
                path={`series.${i}`}
                mark={markOf(i, marks)}
                color={isColored ? `b${i}` : ''}
                maths={maths}
                onChange={(changed) => onChange(series.with(i, changed))}
                {...(series.length < most && { onCopy: () => add(node, i + 1) })}
                {...(i > 0 && { onUp: () => onChange(series.toSpliced(i - 1, 2, node, series[i - 1]!)) })}
                {...(series.length > least && { onRemove: () => onChange(series.toSpliced(i, 1)) })}
              />
            </At>
          </li>
        ))}
        {series.length < most && (
          <li>
            <button
              type="button"
              class="plain add"
              onClick={() =>
                added.add(() => add({ kind: 'EventsNode', event: null, name: 'All events', ...(maths && { math: maths[0]!.value }) }))
              }
            >
              + {addLabel}
            </button>
          </li>
        )}
      </ol>
    </At>
  )
}

interface SeriesAction {
  readonly icon: IconName
  readonly label: string
  readonly run: (() => void) | undefined
  /** Of what it opens. */
  readonly isOpen?: boolean
}

function SeriesRow({
  node,
  path,
  mark,
  color,
  maths,
  onChange,
  onCopy,
  onUp,
  onRemove,
}: {
  node: SeriesNode
  /** What errors call it. */
  path: string
  mark: string
  /** The class of its color. */
  color: string
  maths: readonly Option[] | undefined
  onChange: (node: SeriesNode) => void
  onCopy?: () => void
  onUp?: () => void
  onRemove?: () => void
}) {
  const [isRenaming, setRenaming] = useState(false)
  const actions: readonly SeriesAction[] = [
    { icon: 'pen', label: `Rename ${mark}`, run: () => setRenaming(!isRenaming), isOpen: isRenaming || Boolean(node.custom_name) },
    { icon: 'copy', label: `Duplicate ${mark}`, run: onCopy },
    { icon: 'up', label: `Move ${mark} up`, run: onUp },
    { icon: 'cross', label: `Remove ${mark}`, run: onRemove },
  ]
  return (
    <>
      <div class="series-row">
        <span class={`mark ${color}`} aria-hidden="true">
          {mark}
        </span>
        {node.kind === 'GroupNode' ? (
          <span class="grow">{String(node.custom_name ?? node.name ?? 'Several events')}</span>
        ) : (
          <EventField label={`Event ${mark}`} value={choiceOf(node)} onChange={(choice) => onChange(withChoice(node, choice))} />
        )}
        <span class="row-actions">
          {actions.map(
            ({ icon, label, run, isOpen }: SeriesAction) =>
              run && (
                <button type="button" class="plain icon" key={label} aria-label={label} aria-expanded={isOpen} title={label} onClick={run}>
                  <Icon name={icon} />
                </button>
              ),
          )}
        </span>
      </div>
      <div class="series-more">
        {(isRenaming || node.custom_name) && (
          <At of={`${path}.custom_name`}>
            <DraftField
              label={`Name of ${mark}`}
              placeholder="Name in the chart"
              value={node.custom_name ?? ''}
              onChange={(name) => onChange(withField(node, 'custom_name', name.trim() || undefined))}
            />
          </At>
        )}
        {maths && <MathField mark={mark} path={path} node={node} options={maths} onChange={onChange} />}
        <Filters
          filters={listIn(node, 'properties')}
          label="Add a filter"
          isFolding
          paths={[`${path}.properties`]}
          onChange={(filters) => onChange(withField(node, 'properties', filters.length > 0 ? filters : undefined))}
        />
      </div>
    </>
  )
}
