import { useRef, useState } from 'preact/hooks'
import type { Choice } from '../lib/matching.ts'
import { knownZones } from '../lib/zones.ts'
import { Picker } from './picker.tsx'

const choices: readonly Choice<string>[] = knownZones.map((zone) => ({
  of: zone,
  name: zone,
  label: zone.replaceAll('_', ' '),
  group: zone.includes('/') ? zone.slice(0, zone.indexOf('/')) : '',
}))

/** A time zone from the list of all, in a form. */
export function ZoneInput({ id, name, label, value: given }: { id: string; name: string; label: string; value: string }) {
  const [value, setValue] = useState(given)
  const hidden = useRef<HTMLInputElement>(null)
  const take = (zone: string) => {
    setValue(zone)
    // For the form around it: something has changed.
    hidden.current!.dispatchEvent(new Event('input', { bubbles: true }))
  }
  return (
    <>
      <Picker
        id={id}
        label={label}
        text={value}
        choices={choices}
        // What is no zone is refused by the API, with the reason.
        typed={{ take, place: 'last' }}
        onChoose={take}
      />
      <input type="hidden" name={name} value={value} ref={hidden} />
    </>
  )
}
