import * as z from 'zod'
import type { FileWish } from '../destinations/destination.ts'
import type { Compression } from '../ports.ts'

// Settings that destinations of files and objects have in common.

const compressions = {
  JSONLines: ['gzip', 'brotli'],
  Parquet: ['zstd', 'lz4', 'snappy', 'gzip', 'brotli'],
} as const satisfies Record<string, readonly Compression[]>

export const fileSettings = {
  file_format: z.enum(['JSONLines', 'Parquet']).nullable().default('JSONLines'),
  compression: z.enum(['gzip', 'brotli', 'zstd', 'lz4', 'snappy']).nullable().default(null),
  max_file_size_mb: z.coerce.number({ error: 'A valid number is required.' }).positive().nullable().default(null),
}

export interface FileSettings {
  readonly file_format: 'JSONLines' | 'Parquet' | null
  readonly compression: Compression | null
  readonly max_file_size_mb: number | null
}

/** For `superRefine` of a schema that has these settings. */
export const compressionMustFit = ({ file_format, compression }: FileSettings, context: z.RefinementCtx): void => {
  const format = file_format ?? 'JSONLines'
  const known: readonly Compression[] = compressions[format]
  if (compression === null || known.includes(compression)) return
  const message = `Compression ${compression} is not supported for files of the format ${format}. Use one of: ${known.join(', ')}.`
  context.addIssue({ code: 'custom', message, path: ['compression'] })
}

export const fileWish = ({ file_format, compression, max_file_size_mb }: FileSettings): FileWish => ({
  format: file_format ?? 'JSONLines',
  compression,
  maxFileBytes: max_file_size_mb === null ? null : max_file_size_mb * 1024 ** 2,
})
