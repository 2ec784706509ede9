import * as z from 'zod'
import { withinJson } from '../../limits/bounds.ts'
import { fieldLimits } from '../../limits/limits.ts'
import { choice, flag, integer, jsonObject, listOf, text } from '../accounts/fields.ts'
import type { Json } from '../accounts/store.ts'

// What requests about plugins may send.

const pluginTypes = ['source', 'local', 'custom', 'repository', 'inline'] as const
const fieldTypes = ['string', 'json', 'attachment', 'choice'] as const

const oneField = z.looseObject(
  {
    key: z.string({ error: 'Not a valid string.' }).optional(),
    type: z.enum(fieldTypes, { error: `A field has one of the types ${fieldTypes.join(', ')}.` }).optional(),
    secret: z.boolean({ error: 'Must be a valid boolean.' }).optional(),
    required: z.boolean({ error: 'Must be a valid boolean.' }).optional(),
    order: z.number({ error: 'A valid number is required.' }).optional(),
    choices: z.array(z.string(), { error: 'Expected a list of texts.' }).optional(),
  },
  { error: 'Expected an object.' },
)
/** A list of fields, or the older form: an object of fields by their keys. */
const [fieldList, fieldsByKey] = [z.array(oneField), z.record(z.string(), oneField, { error: 'Expected a list of fields, or an object.' })]
export const configSchema = withinJson(z.unknown(), 'config').transform((value, context): Json => {
  const read = (Array.isArray(value) ? fieldList : fieldsByKey).safeParse(value)
  if (read.success) return read.data as Json
  const [issue] = read.error.issues
  context.addIssue({ code: 'custom', message: issue!.message, path: issue!.path, params: { rule: 'invalid_input' } })
  return z.NEVER
})

export const publicJobs = withinJson(
  z.record(
    z.string(),
    z.looseObject({ payload: z.record(z.string(), z.looseObject({}), { error: 'Expected an object of fields.' }).optional() }),
    { error: 'Expected an object of jobs.' },
  ),
  'config',
)
export const metrics = withinJson(
  z.record(z.string(), z.enum(['sum', 'min', 'max'], { error: 'A metric is sum, min or max.' }), {
    error: 'Expected an object of metrics.',
  }),
  'json',
)
const names = () => listOf(text({ max: 200, blank: true })).max(200)
const capabilities = z.object(
  { methods: names().optional(), scheduled_tasks: names().optional(), jobs: names().optional() },
  { error: 'Expected an object.' },
)

export const pluginInput = z.object({
  plugin_type: choice(pluginTypes).optional(),
  url: text({ max: 800, blank: true }).nullable().optional(),
  name: text({ max: 200, blank: true }).nullable().optional(),
  description: text({ blank: true }).nullable().optional(),
  icon: text({ max: 800, blank: true }).nullable().optional(),
  config_schema: configSchema.optional(),
  tag: text({ max: 200, blank: true }).nullable().optional(),
  is_global: flag().optional(),
  capabilities: capabilities.optional(),
  metrics: metrics.nullable().optional(),
  public_jobs: publicJobs.nullable().optional(),
})
/** The address of a plugin does not change. */
export const pluginChange = pluginInput.omit({ url: true })
export type PluginChange = z.infer<typeof pluginChange>

export const sourceFiles = ['index.ts', 'plugin.json', 'frontend.tsx', 'site.ts'] as const
export type SourceFile = (typeof sourceFiles)[number]
const sourceText = () => z.string({ error: 'Not a valid string.' }).max(fieldLimits.source.most).nullable().optional()
export const sourceInput = z.object({
  'index.ts': sourceText(),
  'plugin.json': sourceText(),
  'frontend.tsx': sourceText(),
  'site.ts': sourceText(),
})
export type SourceInput = z.infer<typeof sourceInput>

/** Forms send objects as JSON text. */
const fromJson = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
const objectFromText = () => z.preprocess(fromJson, jsonObject('config'))

/** A file of a form; in JSON its contents are base64. */
const uploadedFile = z.object({
  name: text({ max: 1000 }),
  type: text({ max: 200, blank: true }).optional(),
  contents: z.base64({ error: 'Expected base64.' }).max(fieldLimits.file.most),
})
export type UploadedFile = z.infer<typeof uploadedFile>

export const configInput = z.object({
  plugin: integer(1),
  enabled: flag().optional(),
  order: integer().optional(),
  config: objectFromText().optional(),
  name: text({ max: 400, blank: true }).nullable().optional(),
  description: text({ max: 1000, blank: true }).nullable().optional(),
  deleted: flag().optional(),
  add_attachment: withinJson(z.record(z.string(), uploadedFile), 'files').optional(),
  remove_attachment: jsonObject().optional(),
})
export const configChange = configInput.omit({ plugin: true }).partial()
export type ConfigChange = z.infer<typeof configChange>

export const agreementInput = z.object({ version: text({ max: 64 }) })

export const ordersInput = z.object({
  orders: withinJson(z.record(z.string(), integer(), { error: 'Expected an object of orders by plugin id.' }), 'json'),
})

export const jobInput = z.object({
  job: z.object(
    { type: text({ max: 200 }), operation: text({ max: 200 }).optional(), payload: jsonObject().optional() },
    { error: 'Expected an object.' },
  ),
})
