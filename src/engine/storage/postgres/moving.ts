import { WaymarkError } from '../../../errors/errors.ts'
import type { Postgres, Statements } from './client.ts'

// What the tables in PostgreSQL say about a data directory that is being moved into them. Servers refuse to start meanwhile.

const movingKey = 'moving'
const movedToKey = 'moved_to'

/** The name of a lock that a move holds while it runs, and servers share while they start. */
export const moveLock = (schema: string): string => `waymark ${schema} move`
const projectKey = (id: number) => `moving_project_${id}`

export interface Moving {
  readonly id: string
  /** The path of the directory. */
  readonly from: string
  readonly since: string
}

/** How far a project is. */
export interface MovedProject {
  /** Tokens of two attempts differ: what was removed would be taken for what is there. */
  readonly attempt: string
  /** The record of the log up to which its rows were copied. */
  readonly seq: number
  /** Tables whose rows are there. */
  readonly tables: readonly string[]
  /** All rows are there, and the log goes on. */
  readonly isWhole: boolean
}

export async function readMoving(on: Statements, schema: string): Promise<Moving | null> {
  const [row] = await on.rows<{ value: string }>(`SELECT value FROM ${schema}.cluster_facts WHERE key = $1`, [movingKey])
  return row ? (JSON.parse(row.value) as Moving) : null
}

/** The data is in a directory now. */
export interface MovedTo {
  readonly to: string
  readonly at: string
}

export async function readMovedTo(on: Statements, schema: string): Promise<MovedTo | null> {
  const [row] = await on.rows<{ value: string }>(`SELECT value FROM ${schema}.cluster_facts WHERE key = $1`, [movedToKey])
  return row ? (JSON.parse(row.value) as MovedTo) : null
}

/** Every further record is refused, also one of a server that has not noticed. */
export const closeLog = (on: Statements, schema: string) =>
  on.run(`ALTER TABLE ${schema}.cluster_log ADD CONSTRAINT moved CHECK (false) NOT VALID`)

/** What an operator executes to go on with the databases. */
const undoOf = (schema: string) =>
  `DELETE FROM ${schema}.cluster_facts WHERE key = '${movedToKey}'; ALTER TABLE ${schema}.cluster_log DROP CONSTRAINT moved`

/** No server opens the databases from now on. */
export const writeMovedTo = (on: Statements, schema: string, moved: MovedTo) => put(on, schema, movedToKey, moved)

/** Servers wait until everything is there, and do not open what is elsewhere. */
export async function mustNotBeMoving(on: Statements, schema: string, facts: ReadonlyMap<string, string>): Promise<void> {
  const movedTo = facts.get(movedToKey)
  if (movedTo !== undefined) {
    const { to, at } = JSON.parse(movedTo) as MovedTo
    const message =
      `The data of these databases was moved to the directory ${to} at ${at}. To go on with the databases as they were then, execute in PostgreSQL: ` +
      undoOf(schema)
    throw new WaymarkError('command-failed', { message })
  }
  const [lock] = await on.rows<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock_shared(hashtextextended($1, 0)) AS taken', [
    moveLock(schema),
  ])
  if (!lock?.taken && !facts.has(movingKey))
    throw new WaymarkError('command-failed', {
      message: '`waymark move` moves these databases into a directory at the moment. Start no server until it has ended.',
    })
  const found = facts.get(movingKey)
  if (found === undefined) return
  const { from, since } = JSON.parse(found) as Moving
  const message = `\`waymark move\` copies the data directory ${from} into these databases since ${since}. Start the servers when it has ended; if it was stopped, run it again.`
  throw new WaymarkError('command-failed', { message })
}

const put = (on: Statements, schema: string, key: string, value: object) =>
  on.run(`INSERT INTO ${schema}.cluster_facts (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`, [
    key,
    JSON.stringify(value),
  ])

export const writeMoving = (on: Statements, schema: string, moving: Moving) => put(on, schema, movingKey, moving)

/** The servers may start. */
export const endMoving = ({ run, schema }: Postgres) => run(`DELETE FROM ${schema}.cluster_facts WHERE key LIKE 'moving%'`)

export async function readMovedProject({ rows, schema }: Postgres, id: number): Promise<MovedProject | null> {
  const [row] = await rows<{ value: string }>(`SELECT value FROM ${schema}.cluster_facts WHERE key = $1`, [projectKey(id)])
  return row ? (JSON.parse(row.value) as MovedProject) : null
}

export const writeMovedProject = (on: Statements, schema: string, id: number, moved: MovedProject) => put(on, schema, projectKey(id), moved)

/** Projects of which something was copied. */
export async function movedProjects({ rows, schema }: Postgres): Promise<readonly number[]> {
  const found = await rows<{ key: string }>(`SELECT key FROM ${schema}.cluster_facts WHERE key LIKE $1`, [`${projectKey(0).slice(0, -1)}%`])
  return found.map(({ key }) => Number(key.slice(projectKey(0).length - 1)))
}

/** The project begins anew. */
export const forgetMovedProject = ({ run, schema }: Postgres, id: number) =>
  run(`DELETE FROM ${schema}.cluster_facts WHERE key = $1`, [projectKey(id)])
