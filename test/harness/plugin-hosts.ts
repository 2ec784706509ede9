import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Files, tgzOf, zipOf } from './archives.ts'

// GitHub, GitLab and the npm registry on loopback: every repository and package is there, with one version.

export const helloWorld: Files = {
  'plugin.json': JSON.stringify({
    name: 'helloworldplugin',
    description: 'Greet the World and Foo a Bar, JS edition!',
    config: { bar: { name: "What's in the bar?", type: 'string', default: 'baz', required: false } },
  }),
  'index.js': 'export function processEvent(event) { event.properties.hello = "world"; return event }\n',
}

export interface PluginHosts {
  readonly url: string
  readonly hosts: { readonly github: string; readonly githubApi: string; readonly gitlab: string; readonly npm: string }
  /** The files of a repository by its path (`owner/name`), or of a package by its name. Others have those of `helloWorld`. */
  readonly files: Map<string, Files>
  /** Answers in place of the usual ones, by path. */
  readonly answers: Map<string, { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Uint8Array }>
  /** The newest version. */
  tag: string
  readonly requests: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[]
  close(): Promise<void>
}

const inFolder = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, contents]) => [`${folder}/${path}`, contents]))

export async function startPluginHosts(): Promise<PluginHosts> {
  const files = new Map<string, Files>()
  const of = (name: string) => files.get(name) ?? helloWorld
  const routes: readonly [RegExp, (name: string) => unknown][] = [
    [/^\/github-api\/repos\/([^/]+\/[^/]+)\/commits$/, () => [{ sha: hosts.tag }]],
    [/^\/github\/([^/]+\/[^/]+)\/archive\/[^/]+\.zip$/, (name) => zipOf(inFolder(`${name.split('/')[1]}-${hosts.tag}`, of(name)))],
    [/^\/gitlab\/api\/v4\/projects\/([^/]+)\/repository\/commits$/, () => [{ id: hosts.tag }]],
    [
      /^\/gitlab\/api\/v4\/projects\/([^/]+)\/repository\/archive\.zip$/,
      (name) => zipOf(inFolder('repository', of(decodeURIComponent(name)))),
    ],
    [/^\/npm\/([^/]+)\/latest$/, () => ({ version: hosts.tag })],
    [/^\/npm\/((?:@[^/]+\/)?[^/]+)\/-\/[^/]+\.tgz$/, (name) => tgzOf(inFolder('package', of(name)))],
  ]
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://host').pathname
    hosts.requests.push({ path: request.url!, headers: request.headers })
    const known = hosts.answers.get(path)
    if (known) return void response.writeHead(known.status, known.headers).end(known.body)
    for (const [pattern, answer] of routes) {
      const match = pattern.exec(path)
      if (!match) continue
      const body = answer(match[1]!)
      return void response.writeHead(200).end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
    }
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const hosts: PluginHosts = {
    url,
    hosts: { github: `${url}/github`, githubApi: `${url}/github-api`, gitlab: `${url}/gitlab`, npm: `${url}/npm` },
    files,
    answers: new Map(),
    tag: 'f00ba12',
    requests: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return hosts
}
