import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Reader } from 'mmdb-lib'
import { WaymarkError } from '../../errors/errors.ts'
import { isObject } from '../../lib/is-object.ts'
import type { JsonObject } from './ports.ts'

// City records from a database file (MMDB) that the operator provides. Plugins know the fields by the names of MaxMind's client: `isoCode`, not `iso_code`.

const renamed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(renamed)
  if (!isObject(value)) return value
  // Names of places are keyed by language.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      key === 'names' ? inner : renamed(inner),
    ]),
  )
}

export async function openAddressDatabase(file: string): Promise<(ip: string) => Promise<JsonObject | null>> {
  const reader = await readerOf(file)
  return async (ip) => {
    if (isIP(ip) === 0) return null
    const found = reader.get(ip)
    return found === null ? null : (renamed(found) as JsonObject)
  }
}

async function readerOf(file: string): Promise<Reader<JsonObject & object>> {
  try {
    return new Reader(await readFile(file))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `plugins.geoip must be a file in the format MMDB, such as GeoLite2-City.mmdb, but ${file} cannot be read: ${reason}`
    throw new WaymarkError('validation-failed', { message, attr: 'plugins.geoip' }, { cause: error })
  }
}
