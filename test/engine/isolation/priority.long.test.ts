import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { program } from '../../harness/programs.ts'

// The door goes first, whatever priority it was started with: root could raise the one of its engine.

const nicenessOf = (path: string) => Number(readFileSync(`${path}/stat`, 'utf8').split(') ')[1]!.split(' ')[16])

test.runIf(process.platform === 'linux').each([0, 7, 19])('a server that was started with niceness %i more', async (more) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-priority-'))
  const serve = [process.execPath, program('cli'), 'serve', '--data', dataDir, '--port', '0', '--json']
  const server = spawn('nice', ['-n', String(more), ...serve], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string]
    const { url, project_id, personal_api_key } = JSON.parse(line) as { url: string; project_id: number; personal_api_key: string }
    const headers = { authorization: `Bearer ${personal_api_key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ query: { kind: 'SqlLikeQuery', query: 'select 1' } })
    expect((await fetch(`${url}/api/projects/${project_id}/query/`, { method: 'POST', headers, body })).status).toBe(200)
    const door = nicenessOf(`/proc/${server.pid}`)
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').split(' ').filter(Boolean)
    const [engine] = children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engine-process'))
    expect(engine).toBeDefined()
    const threads = readdirSync(`/proc/${engine}/task`).map((thread) => nicenessOf(`/proc/${engine}/task/${thread}`))
    expect(threads.length).toBeGreaterThan(1)
    expect(Math.min(...threads)).toBe(Math.min(19, door + 5))
    expect(door).toBe(Math.min(19, nicenessOf('/proc/self') + more))
  } finally {
    server.kill('SIGKILL')
    await once(server, 'exit')
    rmSync(dataDir, { recursive: true, force: true })
  }
})
