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
export interface Plugin {
  readonly id: number
  readonly plugin_type: string
  readonly name: string | null
  readonly description: string | null
  readonly url: string | null
  /** A list of fields, or in the older form an object of fields by their keys. */
  readonly config_schema: readonly ConfigField[] | Readonly<Record<string, ConfigField>>
  readonly tag: string | null
  readonly latest_tag: string | null
  readonly is_global: boolean
  readonly organization_id: string
}
export interface PluginConfig {
  readonly id: number
  readonly plugin: number
  readonly enabled: boolean
  readonly order: number
  readonly config: Readonly<Record<string, unknown>>
  readonly error: unknown
  readonly plugin_info: Plugin | null
  readonly delivery_rate_24h: number | null
  readonly code_version: string
  readonly running_version: string | null
  readonly name: string | null
  readonly description: string | null
}
export interface Offered {
  readonly name: string
  readonly url: string
  readonly description: string
  readonly maintainer: string
}

export const fieldsOf = (schema: Plugin['config_schema']): readonly ConfigField[] =>
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
