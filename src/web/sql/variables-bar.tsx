import { DraftField, Select } from '../ui/parts.tsx'
import { asKind, kindOfValue, type ValueKind, type Variable, type Variables, valueKinds } from './variables.ts'

const booleans = [
  { value: 'true', label: 'true' },
  { value: 'false', label: 'false' },
]

/** The values of variables. `hasKinds`: what they are can be chosen. */
export function VariablesBar({
  variables,
  hasKinds = false,
  onChange,
}: {
  variables: Variables
  hasKinds?: boolean
  onChange: (id: string, value: unknown) => void
}) {
  const all = Object.entries(variables)
  if (all.length === 0) return null
  return (
    <div class="toolbar variables" role="group" aria-label="Variables">
      {all.map(([id, one]) => (
        <span class="variable" key={id}>
          <span aria-hidden="true">{one.code_name}</span>
          {hasKinds && (
            <Select
              label={`Kind of ${one.code_name}`}
              value={kindOfValue(one.value)}
              options={valueKinds}
              onChange={(kind) => onChange(id, asKind(one.value, kind as ValueKind))}
            />
          )}
          <ValueField of={one} onChange={(value) => onChange(id, value)} />
        </span>
      ))}
    </div>
  )
}

function ValueField({ of: { code_name: name, value }, onChange }: { of: Variable; onChange: (value: unknown) => void }) {
  const kind = kindOfValue(value)
  if (kind === 'boolean')
    return <Select label={name} value={String(value)} options={booleans} onChange={(next) => onChange(next === 'true')} />
  return (
    <DraftField
      label={name}
      type={kind}
      value={String(value ?? '')}
      onChange={(next) => (kind === 'text' || next.trim() !== '') && onChange(asKind(next, kind))}
    />
  )
}
