import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * A day as `2026-03-31`. What is being typed stays, whatever arrives meanwhile: the browser says nothing of a day that is typed in part, and a year is
 * not taken before it has four digits.
 */
export function DayField({ label, value, onChange }: { label: string; value: string; onChange: (day: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const day = value.slice(0, 10)
  const show = () => {
    // A field that goes while it has the focus is left once more.
    if (input.current) input.current.value = day
  }
  useLayoutEffect(show, [day])
  return (
    <input
      ref={input}
      type="date"
      aria-label={label}
      onChange={({ currentTarget: { value: typed } }) => typed >= '1000' && typed !== day && onChange(typed)}
      onBlur={show}
    />
  )
}
