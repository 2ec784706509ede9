import { twoShards } from '../clickhouse/chdb.ts'
import { startClickHouseServer } from '../clickhouse/http-server.ts'

// ClickHouse with its data on disk, as a process that can be killed: clickhouse-process.ts PATH PORT [shards]

const [path, port, layout] = process.argv.slice(2)
const server = await startClickHouseServer(path, Number(port), layout === 'shards' ? twoShards : null)
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
