import * as z from 'zod'
import type { Json } from '../accounts/store.ts'
import { configSchema, metrics, publicJobs } from './fields.ts'

const shortText = (max: number) => z.string({ error: 'Not a valid string.' }).max(max, { error: `At most ${max} characters.` })

/** plugin.json. Other keys, such as those of a package.json, are ignored. */
const manifestSchema = z.object(
  {
    name: shortText(200).optional(),
    description: z.string({ error: 'Not a valid string.' }).optional(),
    icon: shortText(800).optional(),
    main: z.string({ error: 'Not a valid string.' }).optional(),
    config: configSchema.optional(),
    metrics: metrics.optional(),
    publicJobs: publicJobs.optional(),
  },
  { error: 'Expected an object.' },
)
export type Manifest = z.infer<typeof manifestSchema>

/** Why plugin.json cannot be used, in words for the user. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
}

export function readManifest(text: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ManifestError(`plugin.json is not valid JSON: ${(error as Error).message}.`)
  }
  const read = manifestSchema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new ManifestError(`plugin.json${issue!.path.length > 0 ? `: ${issue!.path.join('.')}` : ''}: ${issue!.message}`)
}

/** The columns of a plugin that plugin.json sets. */
export const columnsOf = ({ name, description, icon, config, metrics: measured, publicJobs: jobs }: Manifest) => ({
  ...(name === undefined || name === '' ? {} : { name }),
  ...(description === undefined ? {} : { description }),
  ...(icon === undefined ? {} : { icon }),
  config_schema: (config ?? {}) as Json,
  metrics: (measured ?? {}) as Json,
  public_jobs: (jobs ?? {}) as Json,
})
