import { randomUUID } from 'node:crypto'
import { WaymarkError } from '../../../errors/errors.ts'
import type { Postgres, Statements } from './client.ts'
import { mustNotBeMoving } from './moving.ts'

// The tables that servers share beside those of the accounts: the log, who applies it, and what is being applied.

const createTables = (schema: string): readonly string[] => [
  // The last record of each project. A batch takes its numbers from here in the transaction that adds it, so batches become visible in their order.
  `CREATE TABLE ${schema}.cluster_log_ends (project integer PRIMARY KEY, last_seq bigint NOT NULL)`,
  `CREATE TABLE ${schema}.cluster_log (
     project integer NOT NULL, first_seq bigint NOT NULL, last_seq bigint NOT NULL, append_id uuid NOT NULL,
     added_at timestamptz NOT NULL DEFAULT clock_timestamp(), batch bytea NOT NULL, PRIMARY KEY (project, first_seq))`,
  `ALTER TABLE ${schema}.cluster_log ALTER COLUMN batch SET STORAGE EXTERNAL`, // it is compressed
  // Who applies the log of a project: an epoch for each holder. And how far it is applied.
  `CREATE TABLE ${schema}.cluster_partitions (
     project integer PRIMARY KEY, applied_seq bigint NOT NULL DEFAULT 0, last_change bigint NOT NULL DEFAULT 0,
     epoch bigint NOT NULL DEFAULT 0, holder text, until timestamptz)`,
  // What is being applied, from before the first statement until the position has moved.
  `CREATE TABLE ${schema}.cluster_blocks (
     project integer PRIMARY KEY, epoch bigint NOT NULL, change bigint NOT NULL, from_seq bigint NOT NULL, to_seq bigint NOT NULL,
     events integer NOT NULL, token text NOT NULL, body bytea NOT NULL)`,
  `ALTER TABLE ${schema}.cluster_blocks ALTER COLUMN body SET STORAGE EXTERNAL`,
  // Blocks that two holders have begun: the first one may still send its rows.
  `CREATE TABLE ${schema}.cluster_repeated_blocks (
     project integer NOT NULL, from_seq bigint NOT NULL, to_seq bigint NOT NULL, events integer NOT NULL,
     repeated_at timestamptz NOT NULL DEFAULT clock_timestamp(), repair bytea, PRIMARY KEY (project, from_seq))`,
  // What became of changes that a server waits for.
  `CREATE TABLE ${schema}.cluster_outcomes (
     project integer NOT NULL, first_seq bigint NOT NULL, outcome text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
     PRIMARY KEY (project, first_seq))`,
  `CREATE TABLE ${schema}.cluster_answers (task_id text PRIMARY KEY, project integer NOT NULL, answer text NOT NULL)`,
  `CREATE TABLE ${schema}.cluster_salts (day integer PRIMARY KEY, salt bytea NOT NULL)`,
]

/** What each version added to the one before. */
const steps: readonly ((schema: string) => readonly string[])[] = [
  createTables,
  // Counts of requests and attempts. Not logged: a crash of PostgreSQL may forget them.
  (schema) => [
    `CREATE UNLOGGED TABLE ${schema}.cluster_states (key text PRIMARY KEY, version uuid NOT NULL, state text NOT NULL, until timestamptz NOT NULL)`,
    `CREATE INDEX cluster_states_until ON ${schema}.cluster_states (until)`,
  ],
  // Plugins: which version of them a project has, and the one that who applies it uses; what they keep and write; and what became of events that may have passed
  // them before. Keys are JSON, because a text of PostgreSQL has not every character.
  (schema) => [
    `CREATE TABLE ${schema}.cluster_plugins (project integer PRIMARY KEY, version bigint NOT NULL, used_version bigint NOT NULL DEFAULT 0)`,
    `CREATE TABLE ${schema}.cluster_plugin_storage (
       scope text NOT NULL, key text NOT NULL, json text NOT NULL, place bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (scope, key))`,
    `CREATE TABLE ${schema}.cluster_plugin_lines (
       config integer NOT NULL, place bigint GENERATED ALWAYS AS IDENTITY, line text NOT NULL, PRIMARY KEY (config, place))`,
    `CREATE TABLE ${schema}.cluster_transformed (
       project integer NOT NULL, place bigint GENERATED ALWAYS AS IDENTITY, first_seq bigint NOT NULL, records integer NOT NULL, payloads bytea,
       epoch bigint NOT NULL, PRIMARY KEY (project, place))`,
    `ALTER TABLE ${schema}.cluster_transformed ALTER COLUMN payloads SET STORAGE EXTERNAL`, // they are compressed
    // Servers that ended with the lease, one after the other, and what the last one was applying; and records that ended each of them.
    `ALTER TABLE ${schema}.cluster_partitions ADD COLUMN deaths integer NOT NULL DEFAULT 0, ADD COLUMN attempt text`,
    `CREATE TABLE ${schema}.cluster_set_aside (
       project integer NOT NULL, seq bigint NOT NULL, record text NOT NULL, set_at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (project, seq))`,
  ],
]
export const tablesVersion = steps.length

/** One at a time in the whole schema, whichever server it comes from. */
export const lockSchema = (on: Statements, schema: string, what: 'tables' | 'accounts') =>
  on.rows('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`waymark ${schema} ${what}`])

/** How long what holds a lock may do nothing in the database: a server that is stopped must not keep the others waiting. */
const longestHoldMs = 30_000

/** Does the work while no other server does any under the same name. */
export async function alone<T>(postgres: Postgres, name: string, work: () => Promise<T>): Promise<T> {
  const client = await postgres.connect()
  try {
    await client.query('BEGIN')
    await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${longestHoldMs}`)
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`waymark ${postgres.schema} ${name}`])
    return await work()
  } finally {
    await client.end().catch(() => undefined) // and with it the lock
  }
}

/**
 * Creates the tables, or changes those of an older version: once, by the first server that comes. `more` is done in the same transaction. Returns an id of the whole.
 * `isMove`: also while a directory is being moved into them.
 */
export const prepareTables = (
  postgres: Postgres,
  more: (on: Statements) => Promise<void>,
  { isMove = false }: { readonly isMove?: boolean | undefined } = {},
): Promise<string> =>
  postgres.transaction(async (on) => {
    const { schema } = postgres
    await lockSchema(on, schema, 'tables')
    await on.run(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    await on.run(`CREATE TABLE IF NOT EXISTS ${schema}.cluster_facts (key text PRIMARY KEY, value text NOT NULL)`)
    const facts = new Map(
      (await on.rows<{ key: string; value: string }>(`SELECT key, value FROM ${schema}.cluster_facts`)).map((row) => [row.key, row.value]),
    )
    const known = Number(facts.get('version') ?? 0)
    if (known > tablesVersion) {
      const message = `The tables in PostgreSQL have format ${known}, and this version of Waymark knows formats up to ${tablesVersion}. Use the newer version at every server.`
      throw new WaymarkError('command-failed', { message })
    }
    if (!isMove) await mustNotBeMoving(on, schema, facts)
    const id = facts.get('id') ?? randomUUID()
    for (const step of steps.slice(known)) for (const statement of step(schema)) await on.run(statement)
    if (known < tablesVersion)
      await on.run(
        `INSERT INTO ${schema}.cluster_facts (key, value) VALUES ('version', $1), ('id', $2) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`,
        [String(tablesVersion), id],
      )
    await more(on)
    return id
  })
