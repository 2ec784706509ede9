/** A field of a config, as the author of the plugin wrote it. */
export interface ConfigField {
  readonly key?: string
  readonly name?: string
  readonly type?: string
  readonly hint?: string
  readonly default?: string
  readonly required?: boolean
  readonly secret?: boolean
  readonly choices?: readonly string[]
  readonly markdown?: string
}

/** `schema`: a list of fields, or in the older form an object of fields by their keys. */
export const fieldsOf = (schema: unknown): readonly ConfigField[] =>
  Array.isArray(schema)
    ? schema
    : Object.entries(schema as Readonly<Record<string, ConfigField>>).map(([key, field]) => ({ ...field, key }))

/** The text of an error, in whatever form a plugin has left it. */
export const problemText = (error: unknown): string | null =>
  error == null || error === ''
    ? null
    : typeof error === 'string'
      ? error
      : typeof (error as { message?: unknown }).message === 'string'
        ? (error as { message: string }).message
        : JSON.stringify(error)
