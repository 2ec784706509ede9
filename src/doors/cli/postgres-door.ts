import { readFile } from 'node:fs/promises'
import type { PostgresOptions, PostgresServer } from '../postgres/server.ts'
import { type Values, wrongUsage } from './command.ts'

/** Options of `serve` for clients of PostgreSQL. */
export const postgresDoorOptions = {
  'postgres-port': {
    value: 'N',
    summary: 'also answer clients of PostgreSQL, such as Metabase and psql, on this port; 0 picks a free one',
  },
  'postgres-cert': {
    value: 'FILE',
    summary: 'a certificate in PEM for --postgres-port; without one only clients of this machine can connect',
  },
  'postgres-key': { value: 'FILE', summary: 'the private key of --postgres-cert' },
} as const

const read = async (option: 'postgres-cert' | 'postgres-key', file: string): Promise<Buffer> =>
  readFile(file).catch((error: Error) => {
    throw wrongUsage(`--${option} must name a file in PEM: ${error.message}`)
  })

/** Null: no such port is wanted. */
export async function postgresDoorOf(values: Values): Promise<Pick<PostgresOptions, 'port' | 'tls'> | null> {
  const [port, cert, key] = [values.text('postgres-port'), values.text('postgres-cert'), values.text('postgres-key')]
  if ((cert === undefined) !== (key === undefined)) throw wrongUsage('--postgres-cert and --postgres-key belong together.')
  if (port === undefined) {
    if (cert !== undefined) throw wrongUsage('--postgres-cert needs --postgres-port.')
    return null
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw wrongUsage(`--postgres-port must be a number from 0 to 65535, but got ${port}.`)
  if (cert === undefined || key === undefined) return { port: Number(port), tls: null }
  return { port: Number(port), tls: { cert: await read('postgres-cert', cert), key: await read('postgres-key', key) } }
}

type Door = Awaited<ReturnType<typeof postgresDoorOf>>

/** Loaded by those who want it only. */
export const openPostgresDoor = async (
  door: Door,
  parts: Pick<PostgresOptions, 'host' | 'send' | 'onError'>,
): Promise<PostgresServer | null> => door && (await import('../postgres/server.ts')).startPostgres({ ...door, ...parts })
