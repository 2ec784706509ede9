import { createConcurrencyLimit } from '../../../lib/flow/concurrency-limit.ts'
import type { LogLines, PluginStorage } from '../../../service/plugins/ports.ts'
import type { Postgres } from './client.ts'

// What plugins keep, and the lines of their logs: the same at every server.

type Entry = readonly [scope: string, key: string, json: string]

const keyText = (key: string): string => JSON.stringify(key)
const keyFrom = (text: string): string => JSON.parse(text) as string

/** Statements of plugins at the same time: the log and the leases need connections, too. */
const statementsAtOnce = 3
const mostWaiting = 20_000
const mostOfScope = 1_000

export function storageInPostgres(postgres: Postgres): PluginStorage {
  const table = `${postgres.schema}.cluster_plugin_storage`
  const limited = createConcurrencyLimit({
    atOnce: statementsAtOnce,
    waiting: mostWaiting,
    waitingOfGroup: mostOfScope,
    refusal: () => new Error('Too many calls of the storage are waiting. Await some of them first.'),
  })
  const rows: Postgres['rows'] = (text, params = []) => limited(String(params[0]), () => postgres.rows(text, params))
  const run: Postgres['run'] = (text, params = []) => limited(String(params[0]), () => postgres.run(text, params))
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
    // Bytes in place of characters: they are known without reading long values.
    async size(scope) {
      const [found] = await rows<{ keys: string; characters: string }>(
        `SELECT count(*) AS keys, coalesce(sum(octet_length(key) - 2 + octet_length(json)), 0) AS characters FROM ${table} WHERE scope = $1`,
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

/** Removes what configs have left that are gone. Which there are is looked at in the same statement. */
export async function sweepPlugins({ schema, run }: Postgres): Promise<void> {
  const configs = `${schema}.plugin_configs AS c`
  await run(
    `DELETE FROM ${schema}.cluster_plugin_storage AS s WHERE NOT EXISTS (SELECT 1 FROM ${configs} WHERE s.scope = c.project_id || '/' || c.id)`,
  )
  await run(`DELETE FROM ${schema}.cluster_plugin_lines AS l WHERE NOT EXISTS (SELECT 1 FROM ${configs} WHERE c.id = l.config)`)
  await run(`DELETE FROM ${schema}.cluster_plugins AS v WHERE NOT EXISTS (SELECT 1 FROM ${configs} WHERE c.project_id = v.project)
    AND NOT EXISTS (SELECT 1 FROM ${schema}.projects AS p WHERE p.id = v.project)`)
}

/** Of the lines of a config, so many bytes. */
const lineBytes = 2 * 1024 ** 2

/** `most`: of one config. */
export function linesInPostgres({ schema, rows, run }: Postgres, most: number): LogLines {
  const table = `${schema}.cluster_plugin_lines`
  /** From the newest to each line: how many, and their bytes. */
  const counted = `SELECT config, place, row_number() OVER newest AS n, sum(octet_length(line)) OVER newest AS bytes FROM ${table}`
  const newest = 'WINDOW newest AS (PARTITION BY config ORDER BY place DESC)'
  const removeOld = (configs: readonly number[]) =>
    run(
      `DELETE FROM ${table} AS l USING (${counted} WHERE config = ANY ($1::integer[]) ${newest}) AS o
       WHERE l.config = o.config AND l.place = o.place AND o.n > 1 AND (o.n > $2 OR o.bytes > $3)`,
      [configs, most, lineBytes],
    )
  /** Lines since the last removal. */
  let added = 0
  const touched = new Set<number>()
  return {
    async add(lines) {
      await run(
        `INSERT INTO ${table} (config, line) SELECT config, line FROM unnest($1::integer[], $2::text[]) WITH ORDINALITY AS l (config, line, n) ORDER BY n`,
        [lines.map(([config]) => config), lines.map(([, line]) => line)],
      )
      added += lines.length
      for (const [config] of lines) touched.add(config)
      if (added < most / 10) return
      const configs = [...touched]
      added = 0
      touched.clear()
      await removeOld(configs)
    },
    of: async (config) =>
      (
        await rows<{ line: string }>(
          `SELECT l.line FROM ${table} AS l JOIN (${counted} WHERE config = $1 ${newest}) AS o USING (config, place)
           WHERE o.n = 1 OR (o.n <= $2 AND o.bytes <= $3) ORDER BY place`,
          [config, most, lineBytes],
        )
      ).map(({ line }) => line),
  }
}
