import { startClickHouseServer } from '../clickhouse/http-server.ts'

// ClickHouse with its data on disk, as a process that can be killed: clickhouse-process.ts PATH PORT

const [path, port] = process.argv.slice(2)
const server = await startClickHouseServer(path, Number(port))
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
