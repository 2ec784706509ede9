import { setTimeout as pause } from 'node:timers/promises'
import { deferred } from '../../../lib/flow/deferred.ts'
import type { Postgres } from './client.ts'
import { told } from './news.ts'

// Which plugins each server uses. A change counts the version of its project up, and is over when the server that applies the project uses that version: events that
// are acknowledged afterwards pass the plugins as they are now, whichever server they come to.

type Reload = (projects: readonly number[]) => Promise<void>

export interface PluginChanges {
  /** Plugins of these projects have changed. Resolves when the servers that apply them have read them again. `reloaded`: those that this one has. */
  made(projects: readonly number[], reloaded: readonly number[]): Promise<void>
  /** How this server reads the plugins of projects again. From now on it is called after changes at other servers. */
  follow(reload: Reload): void
  /** For a server that begins to apply a project: resolves when it uses the plugins as they are now. */
  begin(project: number, signal: AbortSignal): Promise<void>
  /** Finds what other servers have changed. */
  look(): Promise<void>
}

export interface Versioned {
  readonly project: number
  readonly version: number
}

const longestMs = 15_000
const pauses = { firstMs: 10, growth: 1.5, longestMs: 250 } as const

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

/** Where servers count changes of plugins, and say which they have read. */
export interface PluginVersions {
  /** Of one project, or of all that have changed. */
  read(project?: number): Promise<readonly Versioned[]>
  /** Counts up, and tells the others. */
  countUp(projects: readonly number[]): Promise<readonly Versioned[]>
  /** This server has read the plugins of these versions: that counts where it has the lease. */
  use(versions: readonly Versioned[]): Promise<unknown>
  /** A server applies one of these projects and has read an older version. One that takes a lease reads the plugins anyway. */
  isOlder(versions: readonly Versioned[]): Promise<boolean>
  /** Ends leases that are over: a server that wakes must not go on with older plugins. That they were not given back stays known. */
  endOverdue(projects: readonly number[]): Promise<unknown>
}

/** Of a server that leases name like this. */
export function versionsInPostgres(postgres: Postgres, holder: string): PluginVersions {
  const { schema } = postgres
  const table = `${schema}.cluster_plugins`
  const partitions = `${schema}.cluster_partitions`
  const versioned = (rows: readonly { readonly project: number; readonly version: string }[]): readonly Versioned[] =>
    rows.map(({ project, version }) => ({ project, version: Number(version) }))
  const columnsOf = (all: readonly Versioned[]) => [all.map(({ project }) => project), all.map(({ version }) => version)] as const
  return {
    read: async (project) =>
      versioned(
        await postgres.rows(
          `SELECT project, version FROM ${table} ${project === undefined ? '' : 'WHERE project = $1'}`,
          project === undefined ? [] : [project],
        ),
      ),
    countUp: async (projects) =>
      versioned(
        await postgres.rows(
          `WITH changed AS (INSERT INTO ${table} AS c (project, version) SELECT p.project, 1 FROM unnest($1::integer[]) AS p (project) ORDER BY p.project
             ON CONFLICT (project) DO UPDATE SET version = c.version + 1 RETURNING project, version)
           SELECT project, version, ${told(schema, 'plugins', 'project', 'version')} FROM changed`,
          [projects],
        ),
      ),
    use: (versions) =>
      postgres.run(
        `UPDATE ${table} AS c SET used_version = greatest(c.used_version, u.version)
         FROM unnest($1::integer[], $2::bigint[]) AS u (project, version), ${partitions} AS p
         WHERE c.project = u.project AND p.project = u.project AND p.holder = $3`,
        [...columnsOf(versions), holder],
      ),
    async isOlder(versions) {
      const found = await postgres.rows(
        `SELECT 1 FROM unnest($1::integer[], $2::bigint[]) AS w (project, version) JOIN ${table} AS c ON c.project = w.project
         JOIN ${partitions} AS p ON p.project = w.project
         WHERE c.used_version < w.version AND p.holder IS NOT NULL AND p.until >= clock_timestamp() LIMIT 1`,
        [...columnsOf(versions)],
      )
      return found.length > 0
    },
    endOverdue: (projects) =>
      postgres.run(
        `UPDATE ${partitions} SET holder = NULL, epoch = epoch + 1 WHERE project = ANY ($1::integer[]) AND holder IS NOT NULL AND until < clock_timestamp()`,
        [projects],
      ),
  }
}

export async function openPluginChanges(
  versions: PluginVersions,
  report: (error: unknown) => void,
  mostMs: number = longestMs,
): Promise<PluginChanges> {
  const following = deferred<Reload>()
  let reload: Reload | null = null
  let looking: Promise<void> | null = null
  let mustLookAgain = false
  /** Changes that PostgreSQL has not taken yet. */
  let unsent: readonly number[] = []

  /** Versions of which this server has read the plugins, at least. */
  const known = new Map((await versions.read()).map(({ project, version }) => [project, version]))
  const note = ({ project, version }: Versioned) => known.set(project, Math.max(version, known.get(project) ?? 0))

  const lookOnce = async (): Promise<void> => {
    if (!reload) return
    if (unsent.length > 0) {
      const sent = unsent
      await versions.countUp(sent)
      unsent = unsent.filter((project) => !sent.includes(project))
    }
    const newer = (await versions.read()).filter(({ project, version }) => version > (known.get(project) ?? 0))
    if (newer.length === 0) return
    await reload(newer.map(({ project }) => project))
    await versions.use(newer)
    for (const one of newer) note(one)
  }
  const look = (): Promise<void> => {
    if (looking) {
      mustLookAgain = true
      return looking
    }
    const work = async () => {
      do {
        mustLookAgain = false
        await lookOnce()
      } while (mustLookAgain)
    }
    looking = work().finally(() => {
      looking = null
    })
    return looking
  }

  return {
    look,
    async made(projects, reloaded) {
      if (projects.length === 0) return
      const changed = await versions.countUp(projects).catch((error: unknown) => {
        unsent = [...new Set([...unsent, ...projects])]
        throw error
      })
      await versions.endOverdue(projects)
      // Another server may have made the version before: then this one has not read that change yet.
      const current = changed.filter(({ project, version }) => reloaded.includes(project) && (known.get(project) ?? 0) === version - 1)
      if (current.length > 0) await versions.use(current)
      for (const one of current) note(one)
      if (current.length < changed.length) await look()
      const until = performance.now() + mostMs
      for (let ms: number = pauses.firstMs; await versions.isOlder(changed); ms = Math.min(pauses.longestMs, ms * pauses.growth)) {
        if (performance.now() > until) {
          const which = projects.length === 1 ? `project ${projects[0]}` : `projects ${projects.slice(0, 10).join(', ')}`
          const message = `The plugins of ${which} were changed, and the server that applies the events has not read that within ${mostMs / 1000} s. Until it has, events pass them as they were.`
          report(new Error(message))
          return
        }
        await pause(ms)
      }
    },
    follow(given) {
      reload = given
      following.resolve(given)
    },
    async begin(project, signal) {
      const given = await Promise.race([following.promise, never(signal)])
      const found = await versions.read(project)
      await given([project])
      for (const one of found) note(one)
      if (found.length > 0) await versions.use(found)
    },
  }
}
