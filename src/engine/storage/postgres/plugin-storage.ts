import type { Postgres } from './client.ts'

// What plugins keep, and the lines of their logs: the same at every server.

type Entry = readonly [scope: string, key: string, json: string]

export interface StorageRows {
  get(scope: string, key: string): Promise<string | null>
  /** Null removes the key. */
  set(scope: string, key: string, json: string | null): Promise<void>
  /** Sets a key that has the text `before` (null: that is missing). False: another server was faster. */
  replace(scope: string, key: string, before: string | null, json: string): Promise<boolean>
  size(scope: string): Promise<{ readonly keys: number; readonly characters: number }>
  /** In the order in which the keys were added. */
  list(scope: string): Promise<readonly (readonly [key: string, json: string])[]>
}

const keyText = (key: string): string => JSON.stringify(key)
const keyFrom = (text: string): string => JSON.parse(text) as string

export function storageInPostgres({ schema, rows, run }: Postgres): StorageRows {
  const table = `${schema}.cluster_plugin_storage`
  return {
    async get(scope, key) {
      const [found] = await rows<{ json: string }>(`SELECT json FROM ${table} WHERE scope = $1 AND key = $2`, [scope, keyText(key)])
      return found?.json ?? null
    },
    async set(scope, key, json) {
      if (json === null) await run(`DELETE FROM ${table} WHERE scope = $1 AND key = $2`, [scope, keyText(key)])
      else
        await run(
          `INSERT INTO ${table} (scope, key, json) VALUES ($1, $2, $3) ON CONFLICT (scope, key) DO UPDATE SET json = EXCLUDED.json`,
          [scope, keyText(key), json],
        )
    },
    async replace(scope, key, before, json) {
      const name = [scope, keyText(key), json]
      const changed =
        before === null
          ? await run(`INSERT INTO ${table} (scope, key, json) VALUES ($1, $2, $3) ON CONFLICT (scope, key) DO NOTHING`, name)
          : await run(`UPDATE ${table} SET json = $3 WHERE scope = $1 AND key = $2 AND json = $4`, [...name, before])
      return changed === 1
    },
    async size(scope) {
      const [found] = await rows<{ keys: string; characters: string }>(
        `SELECT count(*) AS keys, coalesce(sum(length(key) - 2 + length(json)), 0) AS characters FROM ${table} WHERE scope = $1`,
        [scope],
      )
      return { keys: Number(found!.keys), characters: Number(found!.characters) }
    },
    async list(scope) {
      const found = await rows<{ key: string; json: string }>(`SELECT key, json FROM ${table} WHERE scope = $1 ORDER BY place`, [scope])
      return found.map(({ key, json }) => [keyFrom(key), json] as const)
    },
  }
}

const entriesAtOnce = 500

/** Replaces what all plugins keep. */
export const putStorage = (postgres: Postgres, entries: readonly Entry[]): Promise<void> =>
  postgres.transaction(async (on) => {
    const table = `${postgres.schema}.cluster_plugin_storage`
    await on.run(`DELETE FROM ${table}`)
    for (let from = 0; from < entries.length; from += entriesAtOnce) {
      const some = entries.slice(from, from + entriesAtOnce)
      await on.run(
        `INSERT INTO ${table} (scope, key, json) SELECT scope, key, json FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS e (scope, key, json, n) ORDER BY n`,
        [some.map(([scope]) => scope), some.map(([, key]) => keyText(key)), some.map(([, , json]) => json)],
      )
    }
  })

/** What all plugins keep, in the order in which it was added. */
export async function readStorage({ schema, rows }: Postgres): Promise<readonly Entry[]> {
  const found = await rows<{ scope: string; key: string; json: string }>(
    `SELECT scope, key, json FROM ${schema}.cluster_plugin_storage ORDER BY place`,
  )
  return found.map(({ scope, key, json }) => [scope, keyFrom(key), json] as const)
}

/** Lines of text by the number of a config. */
export interface LineRows {
  add(lines: readonly (readonly [config: number, line: string])[]): Promise<void>
  /** The oldest first. */
  of(config: number): Promise<readonly string[]>
  /** Removes the lines of other configs, and of each of these all but the newest. */
  keep(configs: readonly number[]): Promise<void>
}

/** `most`: of one config. */
export function linesInPostgres({ schema, rows, run }: Postgres, most: number): LineRows {
  const table = `${schema}.cluster_plugin_lines`
  const removeOld = (configs: readonly number[]) =>
    run(
      `DELETE FROM ${table} AS l USING (
         SELECT c.config, (SELECT place FROM ${table} WHERE config = c.config ORDER BY place DESC OFFSET $2 LIMIT 1) AS last FROM unnest($1::integer[]) AS c (config)
       ) AS o WHERE l.config = o.config AND l.place <= o.last`,
      [configs, most],
    )
  let added = 0
  return {
    async add(lines) {
      await run(
        `INSERT INTO ${table} (config, line) SELECT config, line FROM unnest($1::integer[], $2::text[]) WITH ORDINALITY AS l (config, line, n) ORDER BY n`,
        [lines.map(([config]) => config), lines.map(([, line]) => line)],
      )
      added += lines.length
      if (added < most / 10) return
      added = 0
      await removeOld([...new Set((await rows<{ config: number }>(`SELECT DISTINCT config FROM ${table}`)).map(({ config }) => config))])
    },
    of: async (config) =>
      (await rows<{ line: string }>(`SELECT line FROM ${table} WHERE config = $1 ORDER BY place`, [config])).map(({ line }) => line),
    async keep(configs) {
      // One that another server has made meanwhile has a higher number.
      await run(`DELETE FROM ${table} WHERE config <> ALL ($1::integer[]) AND config < $2`, [configs, Math.max(0, ...configs)])
      await removeOld(configs)
    },
  }
}
