import type { Instance } from '../../engine/storage/instance.ts'
import type { Postgres } from '../../engine/storage/postgres/client.ts'
import { isTime, keysOfRow, movedAccountTables, shapeOf, type Value } from './copy-accounts.ts'

// The rows of account data from PostgreSQL into the file of a directory, as they are.

const pageRows = 500

/** Replaces all rows of the directory. Returns how many there are, and the keys that sealed what is secret in them. */
export async function copyAccountsBack(postgres: Postgres, instance: Instance) {
  const keys = new Set<string>()
  const rows = await postgres.transaction(async (on) => {
    await on.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    return instance.transaction(async (sql) => {
      let count = 0
      for (const table of movedAccountTables) {
        const columns = Object.entries(shapeOf(table))
        const read = columns.map(([name, kind]) =>
          kind.startsWith('integer') || kind.startsWith('boolean') ? name : `${name}::text AS ${name}`,
        )
        const names = columns.map(([name]) => name)
        const places = columns.map(([, kind], i) => `$${i + 1}${isTime(kind) ? '::TIMESTAMP' : ''}`)
        await sql.run(`DELETE FROM control.main.${table}`)
        await on.run(`DECLARE moved_${table} CURSOR FOR SELECT ${read.join(', ')} FROM ${postgres.schema}.${table} ORDER BY ctid`)
        for (;;) {
          const page = await on.rows<Record<string, Value>>(`FETCH ${pageRows} FROM moved_${table}`)
          for (const row of page) {
            const values = names.map((name) => row[name] ?? null)
            for (const id of keysOfRow(values)) keys.add(id)
            await sql.run(`INSERT INTO control.main.${table} (${names.join(', ')}) VALUES (${places.join(', ')})`, values)
          }
          count += page.length
          if (page.length < pageRows) break
        }
        await on.run(`CLOSE moved_${table}`)
      }
      return count
    })
  })
  return { rows, keys }
}
