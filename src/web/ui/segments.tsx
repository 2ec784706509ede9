import type { ComponentChildren } from 'preact'
import type { Option } from '../lib/option.ts'
import { At } from './field-errors.tsx'
import { Select } from './parts.tsx'

interface Props {
  readonly label: string
  readonly value: string
  onChange(value: string): void
}

/** One of a few, all of them in sight. */
export function Segments({ label, value, options, onChange }: Props & { options: readonly Option[] }) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map((one) => (
        <button type="button" key={one.value} aria-pressed={one.value === value} onClick={() => onChange(one.value)}>
          {one.label}
        </button>
      ))}
    </div>
  )
}

/** One of many, the usual ones in sight; the others are in the list at the end, which shows its choice when it is none of them. */
export function QuickSelect({
  label,
  value,
  options,
  quick,
  at,
  onChange,
}: Props & {
  options: readonly Option[]
  quick: readonly { readonly value: string; readonly label: string; readonly show?: ComponentChildren }[]
  /** What errors call it. */
  at: string
}) {
  const isQuick = quick.some((one) => one.value === value)
  return (
    <div class={`segments${isQuick ? ' quick' : ''}`}>
      {quick.map((one) => (
        <button
          type="button"
          key={one.value}
          aria-pressed={one.value === value}
          {...(one.show !== undefined && { 'aria-label': one.label, title: one.label })}
          onClick={() => onChange(one.value)}
        >
          {one.show ?? one.label}
        </button>
      ))}
      <At of={at}>
        <Select label={label} value={value} options={options} onChange={onChange} />
      </At>
    </div>
  )
}
