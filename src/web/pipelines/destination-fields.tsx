import type { DestinationAnswer } from '../../doors/answers/batch-exports.ts'
import { CheckField, ChoiceField, linesOf, TextField } from '../ui/forms.tsx'

// The form of a destination, from the JSON Schema that the API gives.

interface Schema {
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly items?: Schema
}
const fieldsOf = ({ config_schema }: DestinationAnswer) => Object.entries(config_schema.properties as Readonly<Record<string, Schema>>)
export type Settings = Readonly<Record<string, unknown>>

/** The part of a schema that is not null. */
const filled = (schema: Schema): Schema => schema.anyOf?.find(({ type }) => type !== 'null') ?? schema
const typeOf = (schema: Schema): string => {
  const { type = 'string' } = filled(schema)
  return typeof type === 'string' ? type : (type.find((one) => one !== 'null') ?? 'string')
}

const words: Readonly<Record<string, string>> = { aws: 'AWS', kms: 'KMS', url: 'URL', uri: 'URI', id: 'id', json: 'JSON', mb: 'MB' }
const titleOf = (name: string): string => {
  const title = name
    .split('_')
    .map((word) => words[word] ?? word)
    .join(' ')
  return title[0]!.toUpperCase() + title.slice(1)
}
/** Where people call it otherwise than the API. */
const destinationNames: Readonly<Record<string, string>> = { LocalFiles: 'Local files', NoOp: 'Nowhere' }
export const destinationName = (type: string): string => destinationNames[type] ?? type

const fieldName = (name: string) => `destination__config__${name}`
/** Long secrets have line breaks. */
const isLong = (name: string) => /private_key$/.test(name)

/** The settings of a form. `isChange`: secrets that are left empty stay as they are. */
export function settingsFrom(form: HTMLFormElement, destination: DestinationAnswer, isChange = false): Settings {
  const data = new FormData(form)
  return Object.fromEntries(
    fieldsOf(destination).flatMap(([name, schema]): [string, unknown][] => {
      const type = typeOf(schema)
      if (type === 'boolean') return [[name, data.has(fieldName(name))]]
      if (type === 'array') {
        const lines = linesOf(form, fieldName(name))
        return [[name, lines.length > 0 ? lines : null]]
      }
      const text = String(data.get(fieldName(name)) ?? '')
      if (text === '') {
        if (isChange && destination.secrets.includes(name)) return []
        if (destination.config_schema.required.includes(name)) return [[name, '']]
        return isChange ? [[name, schema.anyOf || Array.isArray(schema.type) ? null : '']] : []
      }
      return [[name, type === 'number' || type === 'integer' ? Number(text) : text]]
    }),
  )
}

export function DestinationFields({ destination, settings }: { destination: DestinationAnswer; settings: Settings | null }) {
  return (
    <fieldset class="entry-form">
      <legend>{destinationName(destination.type)}</legend>
      {fieldsOf(destination).map(([name, schema]) => {
        const type = typeOf(schema)
        const isSecret = destination.secrets.includes(name)
        const isNeeded = destination.config_schema.required.includes(name) && name !== 'prefix'
        const label = `${titleOf(name)}${isNeeded ? '' : ' (optional)'}`
        const value = settings?.[name] ?? schema.default
        const at = fieldName(name)
        if (type === 'boolean') return <CheckField key={name} name={at} label={titleOf(name)} value={value === true} />
        const choices = filled(schema).enum
        if (choices)
          return (
            <ChoiceField
              key={name}
              name={at}
              label={label}
              value={value as string | null}
              options={['', ...choices].map((one) => ({ value: one, label: one || 'Default' }))}
            />
          )
        if (type === 'array')
          return (
            <TextField
              key={name}
              name={at}
              label={label}
              rows={2}
              hint="One per line"
              value={(value as string[] | undefined)?.join('\n')}
            />
          )
        return (
          <TextField
            key={name}
            name={at}
            label={label}
            value={isSecret ? '' : (value as string | number | undefined)}
            required={isNeeded && !(isSecret && settings)}
            {...(isSecret && isLong(name) ? { rows: 3 } : isSecret ? { type: 'password', autocomplete: 'new-password' } : {})}
            {...(type === 'number' || type === 'integer' ? { type: 'number', step: 'any' } : {})}
            {...(isSecret && settings ? { placeholder: 'Stored. Leave it empty to keep it.' } : {})}
          />
        )
      })}
    </fieldset>
  )
}
