import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import type { Sql, SqlRow, SqlValue } from '../../src/engine/storage/sql.ts'
import { freePort } from './free-port.ts'

// A PostgreSQL of our own on loopback, with a data directory that goes when it ends, spoken to through `psql`.

const binaries = (): string | null => {
  const base = '/usr/lib/postgresql'
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(base, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb'))) ?? null
}

/** PostgreSQL does not run as root: there it runs as the user its package made. */
const servant = (): { uid: number; gid: number } | null => {
  if (process.getuid?.() !== 0) return null
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString())
  return { uid: id('-u'), gid: id('-g') }
}

/** Why there is none; null when it can be started. */
export const whyNoPostgres = (): string | null => {
  if (!binaries()) return 'no PostgreSQL below /usr/lib/postgresql'
  try {
    servant()
    return null
  } catch {
    return 'there is no user postgres to run it as'
  }
}

export interface Postgres {
  readonly port: number
  readonly sql: Sql
  /** Ends it as a power cut would, but for what the system still has in memory. */
  kill(): Promise<void>
  /** Starts it again after `kill`, on the same port. */
  startAgain(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgres(): Promise<Postgres> {
  const bin = binaries()!
  const as = servant()
  const dir = mkdtempSync(join(tmpdir(), 'waymark-postgres-'))
  if (as) chownSync(dir, as.uid, as.gid)
  const options = { cwd: dir, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }, ...(as ?? {}) }
  const data = join(dir, 'data')
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'waymark', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...options,
    stdio: 'ignore',
  })
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'lc_messages=C'].flatMap((one) => ['-c', one])
  const start = async () => {
    const started = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: started.stderr }).on('line', (line) => line.includes('ready to accept connections') && resolve())
      started.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}`)))
    })
    return started
  }
  /** Processes of one that was killed may not have ended. */
  const startPatiently = async (attempts = 50): ReturnType<typeof start> => {
    try {
      return await start()
    } catch (error) {
      if (attempts === 0) throw error
      await setTimeout(100)
      return startPatiently(attempts - 1)
    }
  }
  let server = await start()
  const psql = `exec '${join(bin, 'psql')}' -X -A -t -h 127.0.0.1 -p ${port} -U waymark -d postgres -v VERBOSITY=terse 2>&1`
  const connect = () => spawn('sh', ['-c', psql], { ...options, stdio: ['pipe', 'pipe', 'ignore'] })
  let session = connect()
  let sql = statements(session)
  return {
    port,
    get sql() {
      return sql
    },
    kill: async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGKILL')
      await ended
    },
    startAgain: async () => {
      server = await startPatiently()
      session.kill()
      session = connect()
      sql = statements(session)
    },
    stop: async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      session.kill()
      server.kill('SIGINT')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const literal = (value: SqlValue): string => {
  if (value === null) return 'NULL'
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

/** The statement port through one session: each statement is prepared with its places and executed with its values. */
function statements(session: ChildProcess): Sql {
  session.stdin!.on('error', () => undefined) // the server was killed
  const lines = createInterface({ input: session.stdout! })[Symbol.asyncIterator]()
  let turn: Promise<unknown> = Promise.resolve()
  const say = (text: string): Promise<string[]> => {
    const answer = turn.then(async () => {
      session.stdin!.write(`${text};\n\\echo -- end\n`)
      const said: string[] = []
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error('psql has ended')
        if (value === '-- end') break
        said.push(value)
      }
      const refusal = said.find((line) => /^(psql:.*)?ERROR:/.test(line))
      if (refusal) throw new Error(`${refusal} in ${text}`)
      return said
    })
    turn = answer.catch(() => undefined)
    return answer
  }
  const execute = (sql: string, params: readonly SqlValue[] = []) => {
    const values = params.length > 0 ? `(${params.map(literal).join(', ')})` : ''
    return say(`DEALLOCATE ALL; PREPARE q AS ${sql}; EXECUTE q${values}`)
  }
  const port: Sql = {
    run: async (sql, params) => {
      const said = /^\s*(CREATE|BEGIN|COMMIT|ROLLBACK)/.test(sql) ? await say(sql) : await execute(sql, params)
      return Number(/(\d+)$/.exec(said.at(-1) ?? '')?.[1] ?? 0)
    },
    rows: async <R extends SqlRow>(sql: string, params?: readonly SqlValue[]) => {
      const said = await execute(`SELECT row_to_json(r) FROM (${sql}) AS r`, params)
      return said.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as R)
    },
    transaction: async (work) => {
      await port.run('BEGIN')
      try {
        const answer = await work(port)
        await port.run('COMMIT')
        return answer
      } catch (error) {
        await port.run('ROLLBACK')
        throw error
      }
    },
  }
  return port
}
