import { openAccounts } from '../control.ts'
import { createApp, type HttpEngine } from '../http/create-app.ts'
import { startServer } from '../http/node-server.ts'
import { createService } from '../http/service.ts'
import { openInstance } from '../storage/duckdb/instance.ts'
import { type Command, wrongUsage } from './command.ts'
import { dataOption, makeDirectory } from './directory.ts'
import { bootstrapKeys, shown } from './init.ts'

const portOf = (text: string): number => {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw wrongUsage(`--port is a number up to 65535, not ${text}.`)
  return Number(text)
}

/** Resolves at the first Ctrl-C or SIGTERM; the second ends the process at once. */
const askedToStop = () =>
  new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })

export const serve: Command = {
  name: 'serve',
  summary: 'Serves the HTTP API.',
  options: {
    data: dataOption,
    host: { value: 'H', summary: 'the address to listen on', default: '127.0.0.1' },
    port: { value: 'N', summary: 'the port; 0 takes a free one', default: '8000' },
    demo: { summary: 'a first start makes a demo project' },
    json: { summary: 'print one line of JSON when ready, and log as JSON' },
  },
  run: async (values, { out, err }) => {
    const port = portOf(values.required('port'))
    const dataDir = values.required('data')
    await makeDirectory(dataDir)
    const instance = await openInstance({ dataDir })
    const clock = () => new Date()
    const stopping = askedToStop()
    try {
      const accounts = await openAccounts(instance, { clock })
      const start = await accounts.firstStart(bootstrapKeys())
      const engine: HttpEngine = {
        accounts,
        clock,
        project: async () => {
          throw new TypeError('no projects yet')
        },
        readiness: async () => ({ isReady: true, checks: {} }),
      }
      const service = createService(createApp(engine), { log: (line) => err(JSON.stringify({ time: clock().toISOString(), ...line })) })
      const server = await startServer(service, { host: values.required('host'), port })
      const facts = { url: server.url, ...shown(start) }
      if (values.isOn('json')) out(JSON.stringify(facts))
      else {
        out(`Waymark          ${server.url}`)
        out(`Project key      ${start.project.api_token}`)
        if (start.personalKey !== null) out(`Personal key     ${start.personalKey}   (shown this once)`)
      }
      await stopping
      await server.drain()
    } finally {
      await instance.close()
    }
  },
}
