import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const cli = join(import.meta.dirname, '../../../dist/cli.js')
const unlimited = ['--concurrent-queries', '--queries-per-user', '--api-limit'].flatMap((name) => [name, '0'])

export interface Answered {
  readonly status: number
  readonly text: string
}

/** A built server with an empty project, without limits on what a user may ask. */
export async function startServer() {
  const data = mkdtempSync(join(tmpdir(), 'waymark-storm-'))
  const server = spawn(process.execPath, [cli, 'serve', '--data', data, '--port', '0', '--json', '--memory', '512MB', ...unlimited], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string]
  const facts = JSON.parse(line) as { url: string; project_id: number; personal_api_key: string }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${facts.personal_api_key}` }

  const call = (agent: Agent, method: string, path: string, body: object | string, signal?: AbortSignal): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const asked = request({ port: Number(new URL(facts.url).port), method, path, agent, headers, signal }, (answer) => {
        let text = ''
        answer.on('data', (chunk) => {
          text += chunk
        })
        answer.on('end', () => resolve({ status: answer.statusCode!, text }))
        answer.on('error', reject)
      })
      asked.on('error', reject)
      asked.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  return {
    projectId: facts.project_id,
    process: server,
    call,
    remove: () => {
      server.kill('SIGKILL')
      rmSync(data, { recursive: true, force: true })
    },
  }
}
