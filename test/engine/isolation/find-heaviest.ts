import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { bodyOf, probes } from './heaviest.ts'
import { startServer } from './storm-server.ts'

// Which statements of the cost fuzzer take most processor time of the engine in three seconds? Each is asked at the largest size that is not refused.

const longestMs = 3_000
const { projectId, process: server, call, remove } = await startServer()
/** 0 while the engine restarts. */
const engineSeconds = (): number => {
  try {
    const [pid] = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').split(' ').filter(Boolean)
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}
const agent = new Agent({ keepAlive: true })
const path = `/api/projects/${projectId}/query/`
const small = { query: { kind: 'SqlLikeQuery', query: 'select 1' }, refresh: 'force_blocking' }
const found: { readonly name: string; readonly size: number; readonly seconds: number; readonly status: number }[] = []
const print = () => {
  found.sort((a, b) => b.seconds - a.seconds)
  console.log(
    found
      .slice(0, 12)
      .map((one) => JSON.stringify(one))
      .join('\n'),
  )
  console.log(`${found.length} statements asked`)
}
try {
  for (const probe of probes()) {
    for (let size = probe.most; size >= probe.from; size = Math.floor(size / 8)) {
      const body = bodyOf(probe, size)
      if (body === null) continue
      const before = engineSeconds()
      const { status } = await call(agent, 'POST', path, body, AbortSignal.timeout(longestMs)).catch(() => ({ status: 0 }))
      const seconds = Math.max(0, engineSeconds() - before)
      while ((await call(agent, 'POST', path, small).catch(() => ({ status: 0 }))).status !== 200) await setTimeout(100)
      if (status >= 400 && status < 500) continue
      found.push({ name: probe.name, size, seconds, status })
      break
    }
    if (found.length % 20 === 0) print()
  }
} finally {
  print()
  remove()
}
process.exit()
