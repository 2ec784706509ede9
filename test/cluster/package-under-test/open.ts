import { type OpenOptions, open as openServer, type Project, type Waymark } from '../../../src/index.ts'
import { startClickHouseServer } from '../../clickhouse/http-server.ts'
import { startPostgres } from '../../harness/postgres.ts'

// What the conformance runner takes for the package: two servers on one PostgreSQL and one ClickHouse. Everything is sent to the first one, and asked of the second.

const asked: ReadonlySet<string | symbol> = new Set(['query', 'sql', 'queryArrow', 'queryArrowBatches', 'events', 'properties', 'warnings'])

export async function open({ clock }: OpenOptions): Promise<Waymark> {
  const [postgres, server] = [await startPostgres(), await startClickHouseServer()]
  const { origin, username, password } = new URL(server.url)
  const clickhouse = { url: origin, username, password: decodeURIComponent(password) }
  const engine = { clickhouse, postgres: `postgres://waymark@127.0.0.1:${postgres.port}/postgres` }
  const options = { engine, ...(clock && { clock }) }
  const [first, second] = [await openServer(options), await openServer(options)]
  const together = async (project: Project): Promise<Project> => {
    const other = await second.project(project.id)
    return new Proxy(project, {
      get(target, name) {
        const of = asked.has(name) ? other : target
        const member: unknown = Reflect.get(of, name, of)
        return typeof member === 'function' ? member.bind(of) : member
      },
    })
  }
  const createProject = first.createProject.bind(first)
  const close = first.close.bind(first)
  return Object.assign(first, {
    createProject: async (...args: Parameters<typeof createProject>) => together(await createProject(...args)),
    close: async () => {
      await close()
      await second.close()
      await server.close()
      await postgres.stop()
    },
  })
}
