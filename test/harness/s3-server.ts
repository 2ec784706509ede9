import { spawn, spawnSync } from 'node:child_process'
import { freePort } from './free-port.ts'

// A server with the API of S3 on loopback: moto, from Debian's python3-moto or from PyPI.

const isThere = (command: string) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0

/** Why there is none; null when it can be started. */
export const whyNoS3 = (): string | null =>
  isThere('moto_server') ? null : 'there is no moto_server (apt-get install python3-moto, or pip install moto[server])'

export interface S3Server {
  readonly url: string
  stop(): Promise<void>
}

export async function startS3(): Promise<S3Server> {
  const port = await freePort()
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', String(port)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
      if (said.includes('Running on')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`moto_server ended with ${code}: ${said}`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
