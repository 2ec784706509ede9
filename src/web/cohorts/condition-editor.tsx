import { isWithoutValue, operators, takesMany } from '../insights/choices.ts'
import { EventNameField } from '../insights/event-field.tsx'
import { PropertyField, propertyChoice } from '../insights/property-field.tsx'
import { useCohortChoices } from '../lib/named-choices.ts'
import { At } from '../ui/field-errors.tsx'
import { NumberField } from '../ui/number-field.tsx'
import { DraftField, Select } from '../ui/parts.tsx'
import { Picker } from '../ui/picker.tsx'
import {
  type CohortCondition,
  type Condition,
  type Conditions,
  type DoneCondition,
  type Group,
  newCondition,
  type PersonCondition,
  pathsIn,
} from './condition.ts'

const joins = [
  { value: 'AND', label: 'all of these' },
  { value: 'OR', label: 'any of these' },
]
const types = [
  { value: 'person', label: 'Property' },
  { value: 'behavioral', label: 'Event' },
  { value: 'cohort', label: 'Cohort' },
]
const behaviours = [
  { value: 'performed_event', label: 'did' },
  { value: 'performed_event_multiple', label: 'did several times' },
  { value: 'performed_event_first_time', label: 'did for the first time' },
]
const counts = [
  { value: 'gte', label: 'at least' },
  { value: 'lte', label: 'at most' },
  { value: 'eq', label: 'exactly' },
]
const units = ['hour', 'day', 'week', 'month', 'year'].map((value) => ({ value, label: `${value}s` }))

/** A part of what a path names. A condition that is not sent has no path. */
const partOf = (path: string | null, part: string): readonly string[] => (path === null ? [] : [`${path}.${part}`])
const wholeOf = (path: string | null, part: string): readonly string[] => (path === null ? [] : [path, `${path}.${part}`])

/** Groups of conditions: who is in the cohort. */
export function ConditionEditor({ conditions, onChange }: { conditions: Conditions; onChange: (conditions: Conditions) => void }) {
  const setGroup = (at: number, group: Group) => {
    const values = conditions.values.map((one, i) => (i === at ? group : one)).filter(({ values }) => values.length > 0)
    onChange({ ...conditions, values })
  }
  const paths = pathsIn(conditions)
  return (
    <div>
      {conditions.values.length > 1 && (
        <p class="inline">
          People who match{' '}
          <Select
            label="How the groups are joined"
            value={conditions.type}
            options={joins.map(({ value, label }) => ({ value, label: label.replace('these', 'these groups') }))}
            onChange={(type) => onChange({ ...conditions, type: type as Conditions['type'] })}
          />
        </p>
      )}
      {conditions.values.map((group, at) => (
        <fieldset class="condition-group" key={at}>
          <legend>Group {at + 1}</legend>
          {group.values.length > 1 && (
            <At of={partOf(paths[at]!.path, 'type')}>
              <Select
                label={`How the conditions of group ${at + 1} are joined`}
                value={group.type}
                options={joins}
                onChange={(type) => setGroup(at, { ...group, type: type as Group['type'] })}
              />
            </At>
          )}
          {group.values.map((condition, i) => (
            <Row
              key={i}
              condition={condition}
              path={paths[at]!.conditions[i]!}
              onChange={(changed) => setGroup(at, { ...group, values: group.values.map((one, j) => (j === i ? changed : one)) })}
              onRemove={() => setGroup(at, { ...group, values: group.values.filter((_, j) => j !== i) })}
            />
          ))}
          <div>
            <button
              type="button"
              class="plain add"
              onClick={() => setGroup(at, { ...group, values: [...group.values, newCondition('person')] })}
            >
              + Add a condition
            </button>
          </div>
        </fieldset>
      ))}
      <button
        type="button"
        class="plain add"
        onClick={() => onChange({ ...conditions, values: [...conditions.values, { type: 'AND', values: [newCondition('person')] }] })}
      >
        + Add a group
      </button>
    </div>
  )
}

interface RowProps<C extends Condition = Condition> {
  readonly condition: C
  readonly path: string | null
  readonly onChange: (condition: Condition) => void
}

function Row({ condition, path, onChange, onRemove }: RowProps & { onRemove: () => void }) {
  const negate = (isNegated: boolean) => {
    const { negation: _, ...rest } = condition
    onChange((isNegated ? { ...rest, negation: true } : rest) as Condition)
  }
  return (
    <div class="condition">
      <At of={partOf(path, 'type')}>
        <Select label="Kind of condition" value={condition.type} options={types} onChange={(type) => onChange(newCondition(type))} />
      </At>
      <label>
        <input type="checkbox" checked={condition.negation === true} onChange={(event) => negate(event.currentTarget.checked)} /> not
      </label>
      {condition.type === 'person' && <OfProperty condition={condition} path={path} onChange={onChange} />}
      {condition.type === 'behavioral' && <OfEvent condition={condition} path={path} onChange={onChange} />}
      {condition.type === 'cohort' && <OfCohort condition={condition} path={path} onChange={onChange} />}
      <button type="button" class="plain" aria-label="Remove the condition" onClick={onRemove}>
        ✕
      </button>
    </div>
  )
}

const shown = (value: unknown) => (Array.isArray(value) ? value.join(', ') : value == null ? '' : String(value))
const valueFor = (operator: string, text: string): unknown =>
  isWithoutValue(operator)
    ? operator
    : takesMany(operator)
      ? text
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== '')
      : text

function OfProperty({ condition, path, onChange }: RowProps<PersonCondition>) {
  const { operator, value } = condition
  const setOperator = (next: string) =>
    onChange({ ...condition, operator: next, value: valueFor(next, isWithoutValue(operator) ? '' : shown(value)) })
  return (
    <>
      <At of={wholeOf(path, 'key')}>
        <PropertyField
          label="Property"
          value={propertyChoice({ type: 'person' }, condition.key)}
          whose={['person']}
          onChoose={(choice) => 'key' in choice && onChange({ ...condition, key: choice.key })}
        />
      </At>
      <At of={partOf(path, 'operator')}>
        <Select label="Comparison" value={operator} options={operators} onChange={setOperator} />
      </At>
      {!isWithoutValue(operator) && (
        <At of={partOf(path, 'value')}>
          <DraftField
            label="Value"
            placeholder={takesMany(operator) ? 'Values: a, b, c' : 'Value'}
            value={shown(value)}
            onChange={(text) => onChange({ ...condition, value: valueFor(operator, text) })}
          />
        </At>
      )}
    </>
  )
}

const mostNumber = 1_000_000

function OfEvent({ condition, path, onChange }: RowProps<DoneCondition>) {
  const setBehaviour = (value: string) => {
    const { operator: _, operator_value: __, ...rest } = condition
    const times = value === 'performed_event_multiple' ? { operator: 'gte', operator_value: 2 } : {}
    onChange({ ...rest, ...times, value: value as DoneCondition['value'] })
  }
  return (
    <>
      <At of={partOf(path, 'value')}>
        <Select label="What was done" value={condition.value} options={behaviours} onChange={setBehaviour} />
      </At>
      <At of={wholeOf(path, 'key')}>
        <EventNameField
          label="Event"
          placeholder="Event"
          value={condition.key}
          all=""
          onChange={(key) => onChange({ ...condition, key })}
        />
      </At>
      {condition.value === 'performed_event_multiple' && (
        <>
          <At of={partOf(path, 'operator')}>
            <Select
              label="Comparison of the count"
              value={condition.operator ?? 'gte'}
              options={counts}
              onChange={(operator) => onChange({ ...condition, operator })}
            />
          </At>
          <At of={partOf(path, 'operator_value')}>
            <NumberField
              label="Times"
              value={condition.operator_value ?? 2}
              from={1}
              most={mostNumber}
              onChange={(operator_value) => onChange({ ...condition, operator_value })}
            />
          </At>
          <span>times</span>
        </>
      )}
      <span>in the last</span>
      <At of={partOf(path, 'time_value')}>
        <NumberField
          label="Length of the time"
          value={condition.time_value ?? 30}
          from={1}
          most={mostNumber}
          onChange={(time_value) => onChange({ ...condition, time_value })}
        />
      </At>
      <At of={partOf(path, 'time_interval')}>
        <Select
          label="Unit of the time"
          value={condition.time_interval ?? 'day'}
          options={units}
          onChange={(time_interval) => onChange({ ...condition, time_interval })}
        />
      </At>
    </>
  )
}

function OfCohort({ condition, path, onChange }: RowProps<CohortCondition>) {
  const { choices, isReading } = useCohortChoices()
  const chosen = choices.find(({ of }) => of === condition.value)
  return (
    <At of={wholeOf(path, 'value')}>
      <Picker
        label="Cohort"
        placeholder="Cohort"
        text={condition.value === null ? '' : (chosen?.label ?? `Cohort ${condition.value}`)}
        choices={choices}
        isReading={isReading}
        onChoose={(value) => onChange({ ...condition, value })}
      />
    </At>
  )
}
