import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A mirror of the npm registry, as an operator may run one, with the packages that are installed here.

export const packagesFolder = join(import.meta.dirname, 'node_modules')

export interface Mirror {
  readonly url: string
  /** Paths that were requested. */
  readonly requests: string[]
  close(): Promise<void>
}

/** The archive that `npm pack` makes of an installed package. */
function packed(name: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-packed-'))
  try {
    const args = ['pack', join(packagesFolder, name), '--pack-destination', folder, '--json', '--ignore-scripts', '--offline']
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })) as [
      { filename: string },
    ]
    return readFileSync(join(folder, filename))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function openMirror(): Promise<Mirror> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    requests.push(path)
    const [, latest] = /^\/(.+)\/latest$/.exec(path) ?? []
    const [, archived] = /^\/(.+)\/-\/[^/]+\.tgz$/.exec(path) ?? []
    try {
      const body = latest ? readFileSync(join(packagesFolder, latest, 'package.json')) : archived ? packed(archived) : null
      response.writeHead(body ? 200 : 404).end(body ?? '{}')
    } catch {
      response.writeHead(404).end('{}')
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
