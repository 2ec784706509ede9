export interface ConfigField {
  readonly key: string
  readonly name: string
  readonly type: 'string' | 'choice'
  readonly hint: string
  readonly default: string
  readonly required: boolean
  readonly secret?: boolean
  readonly choices?: readonly string[]
}

/** A plugin that comes with the server. Its code runs in a context like that of any other plugin. */
export interface BundledPlugin {
  readonly url: `inline://${string}`
  readonly name: string
  readonly description: string
  readonly config_schema: readonly ConfigField[]
  readonly code: string
}

type Given = Pick<ConfigField, 'key' | 'name' | 'hint'> & Partial<ConfigField>

export const field = ({ type = 'string', default: value = '', required = false, ...rest }: Given): ConfigField => ({
  ...rest,
  type,
  default: value,
  required,
})

export const yesOrNo = (given: Given): ConfigField =>
  field({ ...given, type: 'choice', choices: ['yes', 'no'], default: given.default ?? 'no' })
