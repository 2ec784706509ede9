import { useGroupTypes } from '../lib/names.ts'
import type { Option } from '../lib/option.ts'
import { At } from '../ui/field-errors.tsx'
import { DraftField, Select } from '../ui/parts.tsx'
import { maths, takesProperty } from './choices.ts'
import { PropertyField, propertyChoice } from './property-field.tsx'
import { type SeriesNode, withField } from './query.ts'

// What of its events a series counts.

const groupMath = 'unique_group'
const keyOf = ({ math, math_group_type_index: index }: SeriesNode) =>
  math === groupMath ? `${groupMath}:${Number(index ?? 0)}` : (math ?? 'total')

/** Another math, without what belongs to the one before. */
function withMath(node: SeriesNode, key: string): SeriesNode {
  const [math = 'total', index] = key.split(':')
  let changed: SeriesNode = { ...node, math }
  if (!takesProperty(math)) for (const name of ['math_property', 'math_property_type']) changed = withField(changed, name, undefined)
  changed = withField(changed, 'math_hogql', math === 'hogql' ? (node.math_hogql ?? 'count()') : undefined)
  return withField(changed, 'math_group_type_index', index === undefined ? undefined : Number(index))
}

export function MathField({
  mark,
  path = '',
  node,
  options = maths,
  onChange,
}: {
  mark: string
  /** What errors call the series. */
  path?: string
  node: SeriesNode
  options?: readonly Option[]
  onChange: (node: SeriesNode) => void
}) {
  const groups = useGroupTypes()
  const type = String(node.math_property_type ?? '').replace('_properties', '')
  const groupOptions = groups.map(({ group_type, group_type_index, name_singular }) => ({
    value: `${groupMath}:${group_type_index}`,
    label: `Unique groups: ${name_singular || group_type}`,
    ...(options[0]?.group !== undefined && { group: options[0].group }),
  }))
  return (
    <>
      <At of={[`${path}.math`, `${path}.math_group_type_index`]}>
        <Select
          label={`What is counted in ${mark}`}
          value={keyOf(node)}
          options={[options[0]!, options[1]!, ...groupOptions, ...options.slice(2)]}
          onChange={(key) => onChange(withMath(node, key))}
        />
      </At>
      {takesProperty(node.math) && (
        <At of={[`${path}.math_property`, `${path}.math_property_type`]}>
          <PropertyField
            label={`Property with numbers of ${mark}`}
            placeholder="Property with numbers"
            value={propertyChoice({ type }, node.math_property)}
            whose={['event', 'person', 'session']}
            isNumber
            onChoose={(choice) =>
              'key' in choice && onChange({ ...node, math_property: choice.key, math_property_type: `${choice.type}_properties` })
            }
          />
        </At>
      )}
      {node.math === 'hogql' && (
        <At of={`${path}.math_hogql`}>
          <DraftField
            label={`SQL expression of ${mark}`}
            placeholder="sum(properties.price) / count()"
            value={String(node.math_hogql ?? '')}
            onChange={(text) => onChange({ ...node, math_hogql: text.trim() })}
          />
        </At>
      )}
    </>
  )
}
