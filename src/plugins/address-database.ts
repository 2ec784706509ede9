import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Reader } from 'mmdb-lib'
import { isObject } from '../lib/is-object.ts'
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
  const reader = new Reader<JsonObject & object>(await readFile(file))
  return async (ip) => {
    if (isIP(ip) === 0) return null
    const found = reader.get(ip)
    return found === null ? null : (renamed(found) as JsonObject)
  }
}
