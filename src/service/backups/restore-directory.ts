import { checkOptionNames } from '../../errors/check-option-names.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { RestoreOptions } from './restore.ts'

export interface RestoreSettings extends Pick<RestoreOptions, 'at' | 'copy' | 'signal' | 'onProgress'> {
  /** Of copies that are encrypted. */
  readonly key?: string
}

export interface RestoredDirectory {
  /** The number of the copy with the accounts and the stores. */
  readonly copy: number
  /** Accounts are as they were then. */
  readonly accounts_at: string
  readonly bytes: number
  readonly projects: readonly { readonly id: number; readonly name: string; readonly position: number | null }[]
}

const isTime = (value: unknown) => value instanceof Date && !Number.isNaN(value.getTime())

/**
 * Makes a data directory of a copy that `waymark.backup` took: of the newest one, of the one with a number, or as it was at a moment. The directory must not exist,
 * or be empty.
 *
 * @example await restore('/mnt/backups/shop', './data', { at: new Date('2026-05-14T09:30:00Z') })
 */
export async function restore(from: string, dataDir: string, settings: RestoreSettings = {}): Promise<RestoredDirectory> {
  checkOptionNames(settings, ['key', 'at', 'copy', 'signal', 'onProgress'], 'restore')
  const invalid = (attr: string, message: string) => new WaymarkError('validation-failed', { message: `${attr} ${message}`, attr })
  for (const [attr, value] of Object.entries({ from, dataDir }))
    if (typeof value !== 'string' || value === '') throw invalid(attr, 'must be a path')
  if (settings.at !== undefined && !isTime(settings.at)) throw invalid('at', 'must be a Date')
  if (settings.copy !== undefined && !(Number.isInteger(settings.copy) && settings.copy > 0))
    throw invalid('copy', 'must be the number of a copy')
  const backups = await import('./backups.ts')
  const { copy, bytes, projects } = await backups.restore(from, dataDir, settings)
  return { copy: copy.number, accounts_at: copy.began_at, bytes, projects }
}
