import { readableProperty } from '../../service/pictures/readable.ts'

/** The head of a column that somebody has added for a property. */
export function ColumnHead({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <th>
      <span title={name}>{readableProperty(name)}</span>{' '}
      <button type="button" class="plain link" aria-label={`Remove the column ${name}`} onClick={onRemove}>
        ✕
      </button>
    </th>
  )
}
