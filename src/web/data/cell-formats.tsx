import { type CellFormats, numberFormats, timeFormats } from '../../events/imports/formats/cells.ts'
import { knownZones } from '../lib/zones.ts'
import { Select } from '../ui/parts.tsx'
import { Picker } from '../ui/picker.tsx'

const seen = 'seen'
const times = {
  iso: '2026-03-14 15:09:26',
  'DD.MM.YYYY': '14.03.2026 15:09',
  'DD/MM/YYYY': '14/03/2026 15:09',
  'MM/DD/YYYY': '03/14/2026 3:09 PM',
  'YYYY/MM/DD': '2026/03/14 15:09',
  seconds: 'seconds since 1970',
  milliseconds: 'milliseconds since 1970',
} as const
const zones = knownZones.map((zone) => ({
  of: zone,
  name: zone,
  label: zone.replaceAll('_', ' '),
  group: zone.includes('/') ? zone.slice(0, zone.indexOf('/')) : '',
}))

/** How the columns of a file write times and numbers. */
export function CellFormatFields({ cells, onChange }: { cells: CellFormats; onChange: (cells: CellFormats) => void }) {
  const { time, timezone = 'UTC', numbers } = cells
  const change = (given: { readonly [F in keyof CellFormats]?: CellFormats[F] | undefined }) =>
    onChange(Object.fromEntries(Object.entries({ ...cells, ...given }).filter(([, value]) => value !== undefined)))
  return (
    <fieldset>
      <legend>Times and numbers</legend>
      <ul class="lines mapping">
        <li>
          <span>Times are written as</span>
          <Select
            label="Times are written as"
            value={time ?? seen}
            options={[{ value: seen, label: 'detect' }, ...timeFormats.map((value) => ({ value, label: times[value] }))]}
            onChange={(value) => change({ time: value === seen ? undefined : (value as (typeof timeFormats)[number]) })}
          />
        </li>
        {time !== 'seconds' && time !== 'milliseconds' && (
          <li>
            <span>Time zone of times without one</span>
            <Picker
              label="Time zone of times"
              text={timezone.replaceAll('_', ' ')}
              choices={zones}
              onChoose={(zone) => change({ timezone: zone })}
            />
          </li>
        )}
        <li>
          <span>Numbers are written as</span>
          <Select
            label="Numbers are written as"
            value={numbers ?? seen}
            options={[{ value: seen, label: 'do not convert' }, ...numberFormats.map((value) => ({ value, label: value }))]}
            onChange={(value) => change({ numbers: value === seen ? undefined : (value as (typeof numberFormats)[number]) })}
          />
        </li>
      </ul>
    </fieldset>
  )
}
