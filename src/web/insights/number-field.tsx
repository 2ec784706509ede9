/** A whole number within bounds; what is no number changes nothing. */
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
  return (
    <input
      type="number"
      aria-label={label}
      class="short"
      min={from}
      max={most}
      value={value == null ? '' : String(value)}
      onChange={(event) => {
        const { value: text } = event.currentTarget
        const number = Math.round(Number(text))
        if (text !== '' && Number.isFinite(number)) onChange(Math.max(from, Math.min(most, number)))
      }}
    />
  )
}
