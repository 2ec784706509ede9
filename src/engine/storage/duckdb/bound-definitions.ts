import { largestStanding, loadableDefinition } from '../../../limits/definitions.ts'
import type { Sql } from '../sql.ts'

/** In `meta`: no definition of the store is larger than can be loaded. */
const boundedKey = 'definitions_bounded'

const atOnce = 10

/**
 * Shortens definitions that were written before they had a largest size, once for each store. Only one is read at a time: the engine reads the texts of
 * all rows that a statement touches, and fifty of ten megabytes are more than its memory.
 */
export async function boundDefinitions(instance: Sql, at: string): Promise<void> {
  const known = await instance.rows(`SELECT value FROM ${at}.meta WHERE key = '${boundedKey}'`)
  if (known.length > 0) return
  for (const table of ['actions', 'cohorts']) {
    const ids = (await instance.rows<{ id: number }>(`SELECT id FROM ${at}.${table}`)).map(({ id }) => Number(id))
    for (let i = 0; i < ids.length; i += atOnce) {
      const changes: { id: number; definition: string }[] = []
      for (const id of ids.slice(i, i + atOnce)) {
        const [size] = await instance.rows<{ n: bigint }>(`SELECT length(definition) AS n FROM ${at}.${table} WHERE id = ${id}`)
        if (Number(size?.n ?? 0) <= largestStanding) continue
        const [row] = await instance.rows<{ definition: string }>(`SELECT definition FROM ${at}.${table} WHERE id = ${id}`)
        changes.push({ id, definition: loadableDefinition(row!.definition) })
      }
      if (changes.length === 0) continue
      await instance.transaction(async (sql) => {
        for (const { id, definition } of changes) {
          await sql.run(`DELETE FROM ${at}.${table} WHERE id = ${id}`)
          await sql.run(`INSERT INTO ${at}.${table} (id, definition) VALUES (${id}, $1)`, [definition])
        }
      })
    }
  }
  await instance.run(`INSERT INTO ${at}.meta VALUES ('${boundedKey}', '1')`)
}
