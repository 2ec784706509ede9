import { type Properties as PropertiesOf, shownValue, sorted } from './types.ts'

export function Properties({ of }: { of: PropertiesOf }) {
  const entries = sorted(of)
  if (entries.length === 0) return <p class="note">No properties.</p>
  return (
    <dl class="properties">
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>{shownValue(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
