import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadCommand, usage } from '../../src/doors/cli/command.ts'
import { commands } from '../../src/doors/cli/commands.ts'
import { open as openPublic } from '../../src/doors/connected/open.ts'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { open } from '../../src/engine.ts'
import { importFormats } from '../../src/events/imports/format.ts'
import { finish, firstLine, run, start } from '../doors/cli/shell.ts'

// The examples of quickstart, embedding, import and operations, as they stand on the pages.

const docs = join(import.meta.dirname, '../../docs')
const page = (name: string) => readFile(join(docs, name), 'utf8')
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1]!)
/** Words of a command line; what is in quotes is one word. */
const words = (line: string) => [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!)

describe('docs/quickstart.md', () => {
  let folder: string
  let server: ReturnType<typeof start>
  let ended: ReturnType<typeof finish>
  let facts: { url: string; organization_id: string; project_api_key: string }
  const filled = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:8000', facts.url)
      .replaceAll('<PROJECT KEY>', facts.project_api_key)
      .replaceAll('<ID>', facts.organization_id)
      .replaceAll('./data', join(folder, 'data'))
      .replaceAll('export.jsonl.gz', join(folder, 'export.jsonl.gz'))
      .replaceAll('events.parquet', join(folder, 'events.parquet'))
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'waymark-guide-'))
    server = start(['serve', '--data', join(folder, 'data'), '--port', '0', '--json'])
    ended = finish(server)
    facts = JSON.parse(await firstLine(server))
    const line = JSON.stringify({ event: 'imported', distinct_id: 'u9', timestamp: '2026-01-01T00:00:00Z', properties: { price: 1 } })
    await writeFile(join(folder, 'export.jsonl.gz'), gzipSync(`${line}\n`))
  })
  afterAll(async () => {
    server.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })

  test('every command does what the page says, in its order', async () => {
    const said: string[] = []
    for (const block of blocks(await page('quickstart.md'), 'sh')) {
      if (block.startsWith('npm ci')) continue
      if (block.startsWith('curl')) {
        const { stdout } = await promisify(execFile)('bash', ['-c', filled(block)])
        said.push(stdout)
        continue
      }
      for (const line of block.trim().split('\n')) {
        const [npx, waymark, ...args] = words(filled(line.replace(/\s+#.*$/, '')))
        expect([npx, waymark]).toEqual(['npx', 'waymark'])
        const { code, out, err } = await run(args)
        expect([code, err], line).toEqual([0, ''])
        said.push(out)
      }
    }
    expect(said).toHaveLength(8)
    expect(said[0]).toBe('{"status":1}')
    expect(said[1]).toMatch(/^event +n +people\n/)
    expect(said[2]).toMatch(/^Wrote .*events\.parquet: [\d,]+ bytes\.\n$/)
    expect(said[3]).toContain('purchase')
    expect(said[4]).toMatch(/^Would be stored +1 events of 1 rows/)
    expect(said[5]).toMatch(/^Stored +1 events of 1 rows/)
    for (const text of said.slice(6)) expect(text).toMatch(/Personal key +phx_/)
  })
})

describe('docs/embedding.md', () => {
  /** As a function of what the example imports. */
  const asFunction = (example: string) => {
    const body = example.replace(/^import .*\n/gm, '')
    return new Function(...['open', 'createHandler', 'serve', 'console'], `return (async () => {\n${body}\n})()`) as (
      ...given: unknown[]
    ) => Promise<void>
  }

  test('the first example prints what its comment says', async () => {
    const [example] = blocks(await page('embedding.md'), 'ts')
    const printed: unknown[] = []
    await asFunction(example!)(open, createHandler, null, { log: (value: unknown) => printed.push(value) })
    const promised = /console\.log\(results\) \/\/ (.*)/.exec(example!)![1]!
    expect(printed).toEqual([JSON.parse(promised.replaceAll("'", '"'))])
  })

  test('several processes: a guest takes over', async () => {
    const example = blocks(await page('embedding.md'), 'ts').find((text) => text.includes('connect: true'))!
    const printed: unknown[] = []
    const dataDir = await mkdtemp(join(tmpdir(), 'waymark-guide-'))
    const printing = { log: (value: unknown) => printed.push(value) }
    await asFunction(`const dataDir = ${JSON.stringify(dataDir)}\n${example}`)(openPublic, createHandler, null, printing)
    await rm(dataDir, { recursive: true, force: true })
    const promised = /console\.log\(signups\) \/\/ (.*)/.exec(example)![1]!
    expect(printed).toEqual([JSON.parse(promised)])
  })

  test('the handler answers under another server', async () => {
    const example = blocks(await page('embedding.md'), 'js').find((text) => text.includes('createHandler'))!
    const opened: Awaited<ReturnType<typeof open>>[] = []
    const inMemory = async () => {
      const waymark = await open({ dataDir: ':memory:' })
      opened.push(waymark)
      return waymark
    }
    let answer: Response | undefined
    const serve = async ({ fetch, port }: { fetch: (request: Request) => Promise<Response>; port: number }) => {
      expect(port).toBe(8000)
      answer = await fetch(new Request('http://localhost/_livez'))
    }
    await asFunction(example.replace('serve(', 'await serve('))(inMemory, createHandler, serve, console)
    expect(answer?.status).toBe(200)
    await opened[0]!.close()
  })

  test('names every option of open', async () => {
    const source = await readFile(join(docs, '../src/engine.ts'), 'utf8')
    const options = [.../export interface OpenOptions \{([\s\S]*?)\n\}/.exec(source)![1]!.matchAll(/readonly (\w+)\??:/g)].map(
      (match) => match[1]!,
    )
    const text = await page('embedding.md')
    const hidden = ['surroundings', 'days', 'bytes', 'project']
    expect(options.filter((name) => !hidden.includes(name) && !text.includes(`\`${name}\``))).toEqual([])
  })
})

test('docs/import.md names every format and every option', async () => {
  const text = await page('import.md')
  expect(importFormats.filter((format) => !text.includes(`\`${format}\``))).toEqual([])
  const { options } = await loadCommand(commands.find(({ name }) => name === 'import')!)
  expect(Object.keys(options).filter((name) => !text.includes(`--${name}`))).toEqual([])
  const approve = await loadCommand(commands.find(({ name }) => name === 'imports approve')!)
  expect(Object.keys(approve.options).filter((name) => !text.includes(`--${name}`))).toEqual([])
})

describe('docs/operations.md', () => {
  test('the paths for operators answer, and the limits are those of the code', async () => {
    const text = await page('operations.md')
    const waymark = await open({ dataDir: ':memory:' })
    const handler = createHandler(waymark)
    const paths = [...text.matchAll(/^\| `(\/\w+)` \|/gm)].map((match) => match[1]!)
    expect(paths.length).toBeGreaterThan(3)
    for (const path of paths) expect((await handler(new Request(`http://localhost${path}`))).status, path).toBe(200)
    await waymark.close()
  })

  test('every command has its help', async () => {
    for (const command of commands) expect(usage(await loadCommand(command))).toContain(`waymark ${command.name}`)
  })
})
