import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

interface Ready {
  readonly url: string
  readonly project_id: number
  readonly project_api_key: string
  readonly personal_api_key: string
}

/** One visit to the server of an installed package: an event in, its count out, the web interface, and a clean end. */
export async function serveOnce(node: string, cli: string): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'waymark-served-'))
  const server = spawn(node, [cli, 'serve', '--data', data, '--port', '0', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  try {
    await visit(await ready(server))
    server.kill('SIGTERM')
    const [code] = (await once(server, 'exit')) as [number | null]
    if (code !== 0) throw new Error(`the server ended with ${code} after SIGTERM, expected 0`)
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${log}`, { cause: error })
  } finally {
    server.kill('SIGKILL')
    rmSync(data, { recursive: true, force: true })
  }
}

async function ready(server: ChildProcess): Promise<Ready> {
  for await (const line of createInterface(server.stdout!)) return JSON.parse(line) as Ready
  throw new Error('the server ended without a line that says where it is')
}

async function visit({ url, project_id, project_api_key, personal_api_key }: Ready): Promise<void> {
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
    const answer = await fetch(url + path, init)
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  await send('/capture/', { api_key: project_api_key, event: 'visit', distinct_id: 'u1' })
  const series = [{ kind: 'EventsNode', event: 'visit', math: 'dau' }]
  const answer = await send(
    `/api/projects/${project_id}/query/`,
    { query: { kind: 'TrendsQuery', series } },
    { authorization: `Bearer ${personal_api_key}` },
  )
  const { count } = (answer as { results: { count: number }[] }).results[0]!
  if (count !== 1) throw new Error(`one person sent an event, but the trend counts ${count}`)
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  if (!page.ok || !(await page.text()).includes('<script')) throw new Error(`GET / answered ${page.status}, expected the web interface`)
}
