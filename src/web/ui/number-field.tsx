import { useState } from 'preact/hooks'

/** A whole number within bounds; what is no number changes nothing. What is being typed stays, whatever arrives meanwhile. */
export function NumberField({
  label,
  value,
  from,
  most,
  onChange,
}: {
  label: string
  value: unknown
  from: number
  most: number
  onChange: (value: number) => void
}) {
  const [draft, setDraft] = useState<string | null>(null)
  return (
    <input
      type="number"
      aria-label={label}
      class="short"
      min={from}
      max={most}
      value={draft ?? (value == null ? '' : String(value))}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={(event) => {
        const { value: text } = event.currentTarget
        const number = Math.round(Number(text))
        setDraft(null)
        if (text !== '' && Number.isFinite(number)) onChange(Math.max(from, Math.min(most, number)))
      }}
    />
  )
}
